"""Refuses, when it is imported, processors that lack instructions which the extension module uses.

Without it, loading the module would end the whole process with an illegal instruction.
"""

import ctypes
import pathlib


def missing_instructions() -> str:
    """The names of the instruction sets that the package was compiled for and this processor lacks."""
    library = ctypes.CDLL(str(pathlib.Path(__file__).with_name("_processor.so")))
    text = ctypes.create_string_buffer(128)
    library.coppice_missing_instructions(text, ctypes.c_size_t(len(text)))
    return text.value.decode()


def refuse(missing: str) -> None:
    if missing:
        raise ImportError(
            f"this build of coppice needs instructions that this processor lacks: {missing}; build it from source on "
            "this machine: pip install --no-binary coppice coppice"
        )


refuse(missing_instructions())
