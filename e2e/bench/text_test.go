package bench

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"relabel"
	"relabel/chat"
)

// The mean lengths of a turn's texts, in bytes. Forty such turns are some 35,000 tokens.
const (
	thoughtLength     = 400
	commandLength     = 160
	observationLength = 2800
)

// sources is real text of the kind that agents read and write: what the Go library's
// net and encoding packages are made of.
var sources = sync.OnceValue(func() []byte {
	var all []byte
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		panic("go env GOROOT: " + err.Error())
	}
	for _, folder := range []string{"net", "encoding", "go"} {
		_ = filepath.WalkDir(filepath.Join(string(bytes.TrimSpace(root)), "src", folder), func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && strings.HasSuffix(path, ".go") {
				text, err := os.ReadFile(path)
				all = append(all, text...)
				return err
			}
			return err
		})
	}
	if len(all) == 0 {
		panic("the Go library's sources are not there")
	}
	return bytes.ToValidUTF8(all, nil)
})

// piece is a piece of the sources of about the mean length: half of them are shorter
// than two thirds of it, few are several times as long.
func piece(r *rand.Rand, mean int) string {
	all := sources()
	n := min(1+int(r.ExpFloat64()*float64(mean)), 10*mean)
	from := r.IntN(len(all) - n)
	return strings.ToValidUTF8(string(all[from:from+n]), "")
}

// say is an action: some thought and a command.
func say(r *rand.Rand) relabel.Message {
	arguments := chat.AppendString([]byte(`{"command": `), piece(r, commandLength))
	return relabel.Message{Role: relabel.RoleAssistant, Content: piece(r, thoughtLength),
		ToolCalls: []relabel.ToolCall{{ID: "call_a", Name: "execute_bash", Arguments: string(append(arguments, '}'))}}}
}
