"""The hooks for Python's built-in functions and the standard library, and for libraries without
arrays of their own: their calls only take arrays, or they compile functions."""

from castwise.auditing.hook import Calls, Compiling, Hook

HOOK = Hook(
    framework="builtins",
    modules="math cmath operator functools itertools copy time os sys random json pickle io re "
    "typing",
    calls=Calls(
        like={"abs": "abs", "round": "round", "pow": "pow", "floor_divide": "divmod"},
        keeps="float int bool complex str repr len iter next min max any all print isinstance type "
        "deepcopy copy id hash enumerate zip sorted reversed append extend insert dump dumps write "
        "cast",
    ),
)
CLOUDPICKLE = Hook(
    framework="cloudpickle",
    calls=Calls(keeps="dump dumps load loads register_pickle_by_value unregister_pickle_by_value"),
)
DILL = Hook(framework="dill", calls=Calls(keeps="dump dumps load loads copy"))
MATPLOTLIB = Hook(  # its calls draw arrays and give none back
    framework="matplotlib",
    calls=Calls(
        mixes="plot scatter imshow matshow pcolormesh pcolor contour contourf tricontour "
        "tricontourf bar barh hist hist2d step stem fill fill_between fill_betweenx errorbar "
        "boxplot violinplot quiver streamplot semilogx semilogy loglog plot_surface plot_wireframe "
        "plot_trisurf axhline axvline hlines vlines annotate text set_data set_offsets set_array "
        "set_xticks set_yticks set_xlim set_ylim xticks yticks xlim ylim colorbar set_clim set_UVC "
        "savefig imsave",
    ),
)
# The auditor leaves alone what these compile: Numba reads bytecode, Triton reads source.
NUMBA = Hook(framework="numba", compiling=Compiling(compilers="numba.*"))
TRITON = Hook(framework="triton", compiling=Compiling(compilers="triton.jit"))
