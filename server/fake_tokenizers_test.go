package server_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"relabel"
)

func (m *memory) CreateTokenizer(ctx context.Context, name string, files relabel.TokenizerFiles) (relabel.Tokenizer, error) {
	newest, err := m.FindTokenizer(ctx, name)
	if err == nil && newest.Hash == files.Hash() {
		return newest, nil
	}
	t := relabel.Tokenizer{ID: relabel.NewID(), Name: name, Version: newest.Version + 1, Hash: files.Hash(), Bytes: files.Bytes(), Files: files.List(), CreatedAt: time.Now()}
	m.mu.Lock()
	m.tokenizerFiles[t.Hash] = files
	m.mu.Unlock()
	return t, add(m, &m.tokenizers, t)
}

func (m *memory) FindTokenizer(_ context.Context, word string) (relabel.Tokenizer, error) {
	return find(m, &m.tokenizers, func(t relabel.Tokenizer) bool {
		return t.Name == word || t.Hash == word || fmt.Sprintf("%s@%d", t.Name, t.Version) == word
	})
}

func (m *memory) FindTokenizerFiles(_ context.Context, hash string) (relabel.TokenizerFiles, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	files, ok := m.tokenizerFiles[hash]
	if !ok {
		return nil, errNone
	}
	copied := relabel.TokenizerFiles{}
	for name, content := range files {
		copied[name] = content
	}
	return copied, nil
}

func (m *memory) ReadTokenizerFile(_ context.Context, hash, name string, from int64, limit int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content := m.tokenizerFiles[hash][name]
	if m.broken != nil || from >= int64(len(content)) {
		return nil, errNone
	}
	return content[from:min(from+int64(limit), int64(len(content)))], nil
}

func (m *memory) ListTokenizers(_ context.Context, p relabel.Page) ([]relabel.Tokenizer, string, error) {
	return page(m, m.tokenizers, p, func(t relabel.Tokenizer) relabel.ID { return t.ID }, func(relabel.Tokenizer) bool { return true })
}

func (m *memory) DeleteTokenizer(ctx context.Context, name string) error {
	if _, err := m.FindTokenizer(ctx, name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokenizers = slices.DeleteFunc(m.tokenizers, func(t relabel.Tokenizer) bool { return t.Name == name })
	return nil
}
