"""Compiles LLVM IR for this processor, and loads what it compiled."""

from __future__ import annotations

import functools
import itertools
import threading

from llvmlite import binding as llvm

from castwise.kernels.llvm.generating import Processor
from castwise.kernels.threads import fork_safe
from castwise.vocab.architecture import architecture

_numbers = itertools.count()
_lock = fork_safe(threading.Lock())  # LLVM's contexts are not for several threads


class Host:
    """This processor, as LLVM sees it."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.initialize_native_asmparser()  # for the instructions that read float errors
        self.cpu = llvm.get_host_cpu_name()
        features = llvm.get_host_cpu_features()
        self.features = features.flatten()
        self.has_f16c = bool(features.get("f16c", False))
        # Where vectors may be longer than 32 bytes, LLVM itself mostly chooses 32.
        self.processor = Processor(architecture(), 32 if features.get("avx2", False) else 16)
        self.triple = llvm.get_process_triple()
        target = llvm.Target.from_triple(self.triple)
        # On x86-64, memset or a constant may be further away than the small model can reach.
        model = "large" if architecture() == "x86_64" else "small"
        self.machine = target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=3, reloc="pic", codemodel=model
        )
        self.linker = llvm.create_lljit_compiler(self.machine)

    @property
    def name(self) -> str:
        """Everything that compiled code depends on, besides its IR."""
        version = ".".join(map(str, llvm.llvm_version_info))
        return f"{self.triple} {self.cpu} {self.features} LLVM {version}"


@functools.cache
def host() -> Host:
    """This processor."""
    return Host()


def compiled(text: str) -> bytes:
    """The object file of a module in LLVM IR."""
    with _lock:
        here = host()
        module = llvm.parse_assembly(text)
        module.triple = here.triple
        module.data_layout = str(here.machine.target_data)
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        options.slp_vectorization = True
        options.loop_unrolling = True
        builder = llvm.create_pass_builder(here.machine, options)
        builder.getModulePassManager().run(module, builder)
        return bytes(here.machine.emit_object(module))


class Loaded:
    """Compiled functions in memory, which are freed with this object."""

    def __init__(self, code: bytes, *functions: str) -> None:
        self.code = code
        with _lock:
            # LLVM calls memset, and on old processors floorf and the like.
            library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
            for function in functions:
                library.export_symbol(function)
            self._tracker = library.link(host().linker, f"castwise {next(_numbers)}")

    def address(self, function: str) -> int:
        """The address of a function."""
        return int(self._tracker[function])
