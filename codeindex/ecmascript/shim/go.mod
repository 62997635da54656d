// The path of this module lies below that of the parser, so that it may import its internal packages.
module github.com/microsoft/typescript-go/shim

go 1.26.0

require github.com/microsoft/typescript-go v0.0.0-20260708042240-2bd066d87f5b
