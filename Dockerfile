# A server of one model, as a user without rights. The model is mounted, not copied in:
#   docker build -t lbg-recsys .
#   docker run --rm -p 127.0.0.1:8000:8000 -v "$PWD/model.lbg:/model/model.lbg:ro" lbg-recsys
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
RUN python -m venv /opt/lbg
ENV PATH=/opt/lbg/bin:$PATH
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY lbg_recsys lbg_recsys
RUN pip install --no-cache-dir '.[serve]'

FROM python:3.12-slim
COPY --from=build /opt/lbg /opt/lbg
ENV PATH=/opt/lbg/bin:$PATH PYTHONUNBUFFERED=1 NUMBA_CACHE_DIR=/opt/numba
RUN useradd --create-home --uid 10001 lbg && mkdir /opt/numba /model && chown lbg /opt/numba
USER lbg
# Compile the kernels now, for the CPU that builds: a container on such a CPU answers its first request at once,
# another one compiles when it starts.
RUN cd /tmp && lbg-recsys fit sample -o sample.lbg --param n_sweeps=20 --param burn_in=10 --quiet \
    && python -c "from lbg_recsys import load; from lbg_recsys.serving.answers import Service; Service(load('sample.lbg')).warm_up()" \
    && rm sample.lbg
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD python -c "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=4)"
ENTRYPOINT ["lbg-recsys", "serve"]
CMD ["/model/model.lbg", "--host", "0.0.0.0", "--port", "8000", "--watch"]
