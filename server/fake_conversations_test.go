package server_test

import (
	"context"
	"iter"
	"slices"

	"relabel"
)

func (m *memory) CreateConversationSet(_ context.Context, set *relabel.ConversationSet, chunks iter.Seq2[relabel.ConversationChunk, error]) error {
	for _, err := range chunks {
		if err != nil {
			return err
		}
	}
	return add(m, &m.conversations, *set)
}

func (m *memory) FindConversationSet(_ context.Context, word string) (relabel.ConversationSet, error) {
	return find(m, &m.conversations, func(s relabel.ConversationSet) bool { return s.Name == word || s.ID.String() == word })
}

func (m *memory) ListConversationSets(_ context.Context, p relabel.Page) ([]relabel.ConversationSet, string, error) {
	return page(m, m.conversations, p, func(s relabel.ConversationSet) relabel.ID { return s.ID }, func(relabel.ConversationSet) bool { return true })
}

func (m *memory) DeleteConversationSet(_ context.Context, id relabel.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conversations = slices.DeleteFunc(m.conversations, func(s relabel.ConversationSet) bool { return s.ID == id })
	return nil
}
