# A hub or a worker of Moot. It runs as a user without rights; all of its state is the home, a volume.
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/moot && /opt/moot/bin/pip install --no-cache-dir '.[postgres,kafka,llm]'

FROM python:3.13-slim
RUN useradd --uid 10001 --user-group --create-home --home-dir /home/moot --shell /usr/sbin/nologin moot \
    && install --directory --owner moot --group moot --mode 0700 /home/moot/.moot
COPY --from=build /opt/moot /opt/moot
ENV PATH=/opt/moot/bin:$PATH MOOT_HOME=/home/moot/.moot PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /home/moot
VOLUME /home/moot/.moot
EXPOSE 8420
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8420/healthz', timeout=2)"]
ENTRYPOINT ["moot"]
CMD ["up", "--host", "0.0.0.0", "--without-tls"]
