"""Packages of the wheel: the code, and the Snakefile with its files as `pipeline_py.project`."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["pipeline_py*", "embedded_grammar*"]), "pipeline_py.project"],
    package_dir={"pipeline_py.project": "."},
)
