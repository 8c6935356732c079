"""Fault injection: killed processes, damaged files, broken inputs and full disks."""
