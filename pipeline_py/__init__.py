"""Training and comparison of syntax-aware translation systems; `load` opens a trained system."""

from pipeline_py.run.import_path import is_package_command, move_project_last

if is_package_command():
    move_project_last()
    from pipeline_py.run.interruption import install_interrupt_hook

    install_interrupt_hook()

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline_py.application.system import System as System
    from pipeline_py.application.system import load as load

__all__ = ["System", "load"]


def __getattr__(name: str) -> Any:
    """Import public names on first use, since every stage imports this package."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pipeline_py.application import system

    return getattr(system, name)
