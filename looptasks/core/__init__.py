"""The core decides: values in, values out; no files, processes, clocks or doit."""
