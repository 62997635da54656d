package relabel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"
)

// Bounds of a tokenizer's files, in bytes. The largest tokenizer.json in use has 33 MB.
const (
	MaxTokenizerBytes    = 64 << 20  // all files together
	MaxTokenizerFile     = 8 << 20   // each file but tokenizer.json
	MaxChatTemplate      = 256 << 10 // a chat template's text
	MaxTokenizerVersions = 1000      // of one name
)

// TokenizerChunk is how much of a registered file is read at a time if it is passed on,
// in bytes.
const TokenizerChunk = 4 << 20

// The files of a model's folder that are registered. Others are not used.
const (
	TokenizerJSON    = "tokenizer.json"
	TokenizerConfig  = "tokenizer_config.json"
	ChatTemplateFile = "chat_template.jinja"
	ModelConfig      = "config.json"
)

// TokenizerFiles are the used files of a model's folder: content by name. Names have
// forward slashes.
type TokenizerFiles map[string][]byte

// Hash identifies the files: the SHA-256, in hexadecimal, of one line per file, in the
// order of names: the SHA-256 of the content in hexadecimal, two spaces, the name and a
// newline, as sha256sum prints it.
func (f TokenizerFiles) Hash() string {
	sum := sha256.New()
	for _, file := range f.List() {
		fmt.Fprintf(sum, "%s  %s\n", file.SHA256, file.Name)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// List describes the files, in the order of names.
func (f TokenizerFiles) List() []TokenizerFile {
	list := make([]TokenizerFile, 0, len(f))
	for _, name := range slices.Sorted(maps.Keys(f)) {
		sum := sha256.Sum256(f[name])
		list = append(list, TokenizerFile{Name: name, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(f[name]))})
	}
	return list
}

// Bytes is the length of all files together.
func (f TokenizerFiles) Bytes() int64 {
	total := int64(0)
	for _, content := range f {
		total += int64(len(content))
	}
	return total
}

// TokenizerFile describes a file of a registered tokenizer.
type TokenizerFile struct {
	Name   string `json:"name" doc:"Name in the model's folder."`
	SHA256 string `json:"sha256" doc:"SHA-256 of the content, in hexadecimal."`
	Bytes  int64  `json:"bytes" doc:"Bytes of the content."`
}

// Tokenizer is a version of a registered tokenizer: a name that stands for the files of a
// model's folder. Versions count from 1 and never change; the name means the newest one.
type Tokenizer struct {
	ID        ID              `json:"id" doc:"Id of the version."`
	Name      string          `json:"name" doc:"Name that policies and exports use."`
	Version   int             `json:"version" doc:"Version of the name, from 1."`
	Hash      string          `json:"hash" doc:"Hash of the files, in hexadecimal: the SHA-256 of one line per file, in the order of names, as sha256sum prints it."`
	Bytes     int64           `json:"bytes" doc:"Bytes of all files together."`
	Files     []TokenizerFile `json:"files" doc:"The files, in the order of names."`
	CreatedAt time.Time       `json:"created_at" doc:"When it was registered."`
}

// TokenizerRef says which tokenizer is meant: the files with a hash, or, where the hash is
// "", the folder at a path below --tokenizers of the machine that reads it.
type TokenizerRef struct {
	Name string // as it was named; shown to people
	Hash string
}

// None reports whether no tokenizer is meant.
func (r TokenizerRef) None() bool { return r == TokenizerRef{} }

// TokenizerRef is the tokenizer of p's model; none if it is not known.
func (p Policy) TokenizerRef() TokenizerRef { return TokenizerRef{p.Tokenizer, p.TokenizerHash} }

// TokenizerRef is the tokenizer that f names.
func (f ExportForm) TokenizerRef() TokenizerRef { return TokenizerRef{f.Tokenizer, f.TokenizerHash} }

var (
	plainName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	tokenizerHash = regexp.MustCompile(`^[0-9a-f]{64}$`)
	tokenizerWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(@[0-9]{1,9})?$`)
)

// IsTokenizerHash reports whether a word is the hash of a tokenizer's files.
func IsTokenizerHash(word string) bool { return tokenizerHash.MatchString(word) }

// IsTokenizerWord reports whether a word can be the name of a registered tokenizer, alone or
// with a version (name@3).
func IsTokenizerWord(word string) bool { return tokenizerWord.MatchString(word) }

// CheckTokenizerName refuses, with CodeInvalid, what cannot name a tokenizer.
func CheckTokenizerName(name string) error {
	if !plainName.MatchString(name) || IsTokenizerHash(name) {
		return Errorf(CodeInvalid, "%.120q is not a name: write 1 to 100 letters, digits, dots, hyphens or underscores, led by a letter or digit, and not 64 hexadecimal digits", name).On("name")
	}
	return nil
}

// TokenizerStore stores registered tokenizers in versions.
type TokenizerStore interface {
	// CreateTokenizer registers files as the next version of a name. The same files as the
	// newest version return that one.
	CreateTokenizer(ctx context.Context, name string, files TokenizerFiles) (Tokenizer, error)
	// FindTokenizer finds by name (the newest version), name@version or hash.
	FindTokenizer(ctx context.Context, word string) (Tokenizer, error)
	// ReadTokenizerFile returns at most limit bytes of a file from a position on.
	ReadTokenizerFile(ctx context.Context, hash, name string, from int64, limit int) ([]byte, error)
	ListTokenizers(ctx context.Context, p Page) (list []Tokenizer, next string, err error)
	// DeleteTokenizer forgets a name. CodeConflict if a policy or an export that is not
	// over uses its files.
	DeleteTokenizer(ctx context.Context, name string) error
}
