"""Packages of the wheel: the code, and the Snakefile with its files as `pipeline_py.project`."""

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

DATA_PACKAGE = "pipeline_py.project"


class BuildPackages(build_py):
    """Copy the packages; the folder of the data package is the project's, whose Python files do not belong to it."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """List the modules of a package."""
        return [] if package == DATA_PACKAGE else super().find_package_modules(package, package_dir)


setup(
    packages=[*find_packages(include=["pipeline_py*", "embedded_grammar*"]), DATA_PACKAGE],
    package_dir={DATA_PACKAGE: "."},
    cmdclass={"build_py": BuildPackages},
)
