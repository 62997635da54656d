// Package train holds the Python programs that train from an export. The README.md of an
// export shows some of them.
package train

import "embed"

// Programs are the Python files of this folder.
//
//go:embed *.py
var Programs embed.FS
