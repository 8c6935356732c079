"""What happens to results when processes are killed, files damaged, inputs broken and disks full."""
