# All that stages need, for a clone that is mounted at /work, or for pods:
#   docker build -t arbitree .
#   docker run --rm -v $PWD:/work arbitree snakemake --cores 8 results/table1.tsv
FROM python:3.11-slim

# Further options of pip for PyTorch alone. Without any, pip takes its usual build, the one for CUDA.
ARG TORCH_OPTIONS=""
# Further packages, as plugins of Snakemake.
ARG PLUGINS=""

# With GCC networks train faster on a processor.
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -r /var/lib/apt/lists/*

WORKDIR /source
COPY pyproject.toml ./
RUN python -c "import tomllib; print(*(x for x in tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'] if x.startswith('torch==')))" > torch.txt \
    && pip install --no-cache-dir $TORCH_OPTIONS -r torch.txt
COPY README.md LICENSE setup.py Snakefile config.yaml ./
COPY pipeline_py ./pipeline_py
COPY embedded_grammar ./embedded_grammar
COPY envs ./envs
COPY profiles ./profiles
COPY workflow ./workflow
RUN pip install --no-cache-dir . $PLUGINS && rm -r /source/*

# Any user may run it, so there is a home that anybody may write to.
RUN useradd --create-home --uid 1000 user && chmod 1777 /home/user
ENV HOME=/home/user
USER user

# The code of a clone goes before the code that came with the image.
ENV PYTHONPATH=/work
WORKDIR /work
CMD ["snakemake", "--cores", "all"]
