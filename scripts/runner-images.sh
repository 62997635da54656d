#!/usr/bin/env bash
# runner-images.sh [python|go|gotoolchain|rust|node|java|jest|vitest]… makes the named images that
# tasks in these languages start from; without names those of the verifier's tests: go,
# jest and vitest.
#
#   relabel/base-python:bookworm  Debian with git, Python, pip and a C compiler
#   relabel/base-go:bookworm      Debian with git and Go (golang-go)
#   relabel/base-gotoolchain:bookworm  Debian with git and this machine's Go, which also
#                                 builds modules for older versions
#   relabel/base-rust:bookworm    Debian with git, Rust (rustc-web, cargo-web) and a C compiler
#   relabel/base-node:bookworm    Debian with git, Node.js and npm
#   relabel/base-java:bookworm    Debian with git, Java (default-jdk-headless) and Maven 3.9
#   relabel/base-jest:bookworm    Debian with git, Node.js, and Jest in /testbed/node_modules
#   relabel/base-vitest:bookworm  the same with Vitest
#
# Images made from the same packages and versions are kept. Root bootstraps the others
# from Debian's archive; npm, Jest and Vitest come from npm's registry, Maven from Maven
# Central. An image takes one to three minutes.
#
#   RELABEL_DEBIAN_MIRROR  Debian archive, instead of mmdebstrap's own
set -euo pipefail
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
go_image=relabel/base-go:bookworm
node_image=relabel/base-nodejs:bookworm
jdk_image=relabel/base-jdk:bookworm
common=git,patch,procps,ca-certificates
go_packages=$common,golang-go
# The last cargo and rustc that Debian has for its stable release are named -web.
declare -A debian_packages=(
    [python]=$common,python3,python3-dev,python3-pip,python3-venv,python3-pytest,gcc,g++,make
    [rust]=$common,rustc-web,cargo-web,gcc,libc6-dev
    [java]=$common,default-jdk-headless
)
# Debian's Maven is 3.8, which current plugins refuse.
maven=3.9.16
maven_url=https://repo.maven.apache.org/maven2/org/apache/maven/apache-maven/$maven/apache-maven-$maven-bin.tar.gz
maven_sha512=831a8591fe20c8243b1dbe7d71e3244f31d1665b0804b2e825e38cbbe5ce0cafb8338851f90780735568773e0a6cd07bbec107cda0b896b008b861075358b6f6
# npm is there for commands such as npx jest and npm test. What these packages need is
# resolved as of the day, so that each machine gets the same versions.
npm=npm@10.8.2
resolved_before=2025-06-01
declare -A node_packages=([node]=$npm [jest]="jest@29.7.0 $npm" [vitest]="vitest@1.6.1 $npm")
declare -A node_folders=([node]=/usr/local/lib/node_modules [jest]=/testbed/node_modules [vitest]=/testbed/node_modules)

main() {
    mkdir -p "$cache"
    exec 9>"$cache/runner-images.lock"
    flock 9 # two calls at once build each image once
    [ $# -gt 0 ] || set -- go jest vitest
    local name
    for name in "$@"; do
        case $name in
        go) go_image ;;
        gotoolchain) go_toolchain_image ;;
        node | jest | vitest) node_image "$name" ;;
        java) java_image ;;
        python | rust) bootstrap "relabel/base-$name:bookworm" "${debian_packages[$name]}" ;;
        *)
            echo "runner images: $name is not python, go, gotoolchain, rust, node, java, jest or vitest" >&2
            exit 2
            ;;
        esac
    done
}

go_image() {
    made_of "$go_image" "$go_packages, built" && return
    bootstrap "$go_image" "$go_packages" --change 'ENV CGO_ENABLED=0' --change 'ENV GOPROXY=off'
    build_go_library
}

# go_toolchain_image puts the Go that builds relabel on top of relabel/base:bookworm.
go_toolchain_image() {
    local image=relabel/base-gotoolchain:bookworm root version work
    root=$(go env GOROOT) version=$(go env GOVERSION)
    made_of "$image" "$version" && return
    "$here/base-image.sh"
    work=$(mktemp -d "$cache/runner-gotoolchain.XXXXXX")
    tar -C "$root" -c bin go.env lib pkg src VERSION | tar -C "$work" --one-top-level=go -x
    cat >"$work/Dockerfile" <<END
FROM relabel/base:bookworm
COPY go /usr/local/go
ENV PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin CGO_ENABLED=0 GOTOOLCHAIN=local
LABEL relabel.packages="$version"
END
    build "$image" "$work"
}

# java_image adds Maven to the image of Java.
java_image() {
    local image=relabel/base-java:bookworm work
    made_of "$image" "${debian_packages[java]} maven $maven" && return
    bootstrap "$jdk_image" "${debian_packages[java]}"
    work=$(mktemp -d "$cache/runner-java.XXXXXX")
    echo "runner images: fetching Maven $maven" >&2
    if ! curl -fsSL --retry 3 -o "$work/maven.tar.gz" "$maven_url" || ! echo "$maven_sha512 $work/maven.tar.gz" | sha512sum --quiet -c >&2; then
        rm -rf "$work"
        echo "runner images: $maven_url could not be fetched, or is another file: is Maven Central reachable?" >&2
        exit 1
    fi
    cat >"$work/Dockerfile" <<END
FROM $jdk_image
ADD maven.tar.gz /opt
RUN ln -s /opt/apache-maven-$maven/bin/mvn /usr/local/bin/mvn
LABEL relabel.packages="${debian_packages[java]} maven $maven"
END
    build "$image" "$work"
}

# node_image NAME makes the image of Node.js with npm, or with a test runner and npm.
node_image() {
    made_of "relabel/base-$1:bookworm" "${node_packages[$1]} $resolved_before" && return
    bootstrap "$node_image" "$common,nodejs"
    install_node_packages "$1"
}

# made_of IMAGE CONTENT reports whether the image is there and its label names the content.
made_of() {
    [ "$(docker image inspect -f '{{index .Config.Labels "relabel.packages"}}' "$1" 2>/dev/null)" = "$2" ]
}

# bootstrap IMAGE PACKAGES [docker import option…]
bootstrap() {
    local image=$1 packages=$2
    shift 2
    made_of "$image" "$packages" && return
    if [ "$(id -u)" != 0 ]; then
        echo "runner images: $image is missing and only root can bootstrap it: sudo $0" >&2
        exit 1
    fi
    "$here/bootstrap-image.sh" "$image" "$packages" "$@" --change 'CMD ["bash"]' --change "LABEL relabel.packages=$packages"
}

# build_go_library has the image hold what each test needs of the standard library, compiled.
build_go_library() {
    local work
    work=$(mktemp -d "$cache/runner-go.XXXXXX")
    printf 'module example.com/empty\n\ngo 1.19\n' >"$work/go.mod"
    printf 'package empty\n\nimport (\n\t"fmt"\n\t"os/exec"\n\t"strconv"\n\t"testing"\n)\n\nfunc TestEmpty(t *testing.T) { t.Log(fmt.Sprint(strconv.Itoa(1)), exec.Cmd{}) }\n' >"$work/empty_test.go"
    cat >"$work/Dockerfile" <<END
FROM $go_image
ENV GOCACHE=/var/cache/go-build
COPY go.mod empty_test.go /tmp/empty/
RUN cd /tmp/empty && go test ./... && rm -rf /tmp/empty && chmod -R a+rwX /var/cache/go-build
LABEL relabel.packages="$go_packages, built"
END
    build "$go_image" "$work"
}

# build IMAGE FOLDER makes an image from a folder with a Dockerfile, and removes the folder.
build() {
    if ! DOCKER_BUILDKIT=0 docker build -q --network none -t "$1" "$2" >"$2.log" 2>&1; then
        tail -20 "$2.log" >&2
        exit 1
    fi
    rm -rf "$2" "$2.log"
}

# install_node_packages NAME adds the packages of npm that an image has to the image of Node.js.
install_node_packages() {
    local runner=$1 packages=${node_packages[$1]} folder=${node_folders[$1]} work
    command -v npm >/dev/null || {
        echo "runner images: npm is needed to fetch $packages: apt-get install -y npm" >&2
        exit 1
    }
    work=$(mktemp -d "$cache/runner-$runner.XXXXXX")
    echo "runner images: fetching $packages" >&2
    # shellcheck disable=SC2086 # a list of words
    if ! (cd "$work" && echo '{"private": true}' >package.json &&
        npm install --silent --no-audit --no-fund --ignore-scripts --before="$resolved_before" --cache "$work/npm" $packages) >"$work.log" 2>&1; then
        tail -10 "$work.log" >&2
        rm -rf "$work"
        echo "runner images: $packages could not be fetched: is the package registry reachable? (whole log: $work.log)" >&2
        exit 1
    fi
    cat >"$work/Dockerfile" <<END
FROM $node_image
COPY node_modules $folder
RUN ln -s $folder/.bin/npm $folder/.bin/npx /usr/local/bin/
LABEL relabel.packages="$packages $resolved_before"
END
    printf 'npm\n' >"$work/.dockerignore"
    build "relabel/base-$runner:bookworm" "$work"
}

main "$@"
