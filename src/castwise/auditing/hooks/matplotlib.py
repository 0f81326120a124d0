"""The hook for Matplotlib, whose calls draw arrays and give none back."""

from castwise.auditing.hook import Calls, Hook

HOOK = Hook(
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
