# A static binary and nothing else: no shell, no package manager, no root.
ARG GO_IMAGE=docker.io/library/golang:1.26

FROM ${GO_IMAGE} AS build
WORKDIR /src
# The modules have a layer of their own: they change seldom.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
ARG COMMIT=unknown
RUN CGO_ENABLED=0 go build -trimpath \
    -ldflags "-s -w -X main.version=${VERSION} -X main.commit=${COMMIT}" \
    -o /sharehook ./cmd/sharehook

FROM scratch
# The authorities that endpoints and brokers are checked against.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /sharehook /sharehook
ENV SHAREHOOK_CONFIG=/etc/sharehook/sharehook.yaml
# By number, so that Kubernetes can see that it is not root.
USER 65532:65532
# Health, metrics and API, once admin.listen is not a loopback address.
EXPOSE 8400
ENTRYPOINT ["/sharehook"]
CMD ["run"]
