# relabel, sandboxd and the parsers on a base without anything else. `make docker-image` builds the
# binaries first and passes BASE; any base with certificates will do, and with git for tasks to localise.
ARG BASE=relabel/runtime:bookworm
FROM ${BASE}
COPY bin/relabel bin/relabel-* bin/sandboxd /usr/local/bin/
COPY --chown=65532:65532 bin/data /var/lib/relabel
USER 65532:65532
ENV RELABEL_DATA=/var/lib/relabel
WORKDIR /var/lib/relabel
VOLUME /var/lib/relabel
EXPOSE 7788
ENTRYPOINT ["/usr/local/bin/relabel"]
CMD ["serve", "--listen", "0.0.0.0:7788"]
