package store

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/conversations"
)

const conversationSetSelect = "SELECT cs.id, cs.name, cs.digest, cs.conversations, cs.labels, cs.bytes, cs.created_at FROM conversation_sets cs"

// CreateConversationSet stores a set with its chunks, in one transaction: all or nothing. The chunks are read
// once, and fill in the set's figures as they are. CodeConflict if the name exists, CodeInvalid if there is no
// conversation.
func (s *Store) CreateConversationSet(ctx context.Context, set *relabel.ConversationSet, chunks iter.Seq2[relabel.ConversationChunk, error]) error {
	set.ID = ensureID(set.ID)
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL "+idleTimeout+" = 0"); err != nil { // the file may be read slowly
			return err
		}
		if err := insertChunks(ctx, tx, set.ID, chunks); err != nil {
			return err
		}
		if set.Conversations == 0 {
			return relabel.Errorf(relabel.CodeInvalid, "the file has no conversation")
		}
		return tx.QueryRow(ctx, `INSERT INTO conversation_sets (id, name, digest, conversations, labels, bytes) VALUES ($1, $2, $3, $4, $5, $6) RETURNING created_at`,
			set.ID, set.Name, set.Digest, set.Conversations, set.Labels, set.Bytes).Scan(&set.CreatedAt)
	})
	return classify(err)
}

func insertChunks(ctx context.Context, tx pgx.Tx, set relabel.ID, chunks iter.Seq2[relabel.ConversationChunk, error]) error {
	number := 0
	for c, err := range chunks {
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO conversation_chunks (set_id, number, conversations, content) VALUES ($1, $2, $3, $4)", set, number, c.Conversations, c.Content); err != nil {
			return err
		}
		number++
	}
	return nil
}

// FindConversationSet finds a set by its name or id. CodeNotFound if there is none.
func (s *Store) FindConversationSet(ctx context.Context, word string) (relabel.ConversationSet, error) {
	set, err := readOne[relabel.ConversationSet](ctx, s.pool, conversationSetSelect+" WHERE cs.name = $1 OR cs.id::text = $1 ORDER BY cs.name = $1 DESC LIMIT 1", word)
	return set, notFound("conversation set", word, err)
}

// ListConversationSets lists sets, newest first. CodeInvalid for an invalid page.
func (s *Store) ListConversationSets(ctx context.Context, p relabel.Page) ([]relabel.ConversationSet, string, error) {
	l := list[relabel.ConversationSet]{query: conversationSetSelect, key: "cs",
		keyOf: func(c relabel.ConversationSet) cursor { return cursor{c.CreatedAt, c.ID} }}
	return l.page(ctx, s, p)
}

// DeleteConversationSet deletes a set. CodeNotFound if there is none, CodeConflict while an export that is built
// has it. Exports that are done stay.
func (s *Store) DeleteConversationSet(ctx context.Context, id relabel.ID) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		_, err := readValue[relabel.ID](ctx, tx, "SELECT id FROM conversation_sets WHERE id = $1 FOR UPDATE", id)
		if again {
			err = ignoreNone(err)
		}
		if err != nil {
			return notFound("conversation set", id, err)
		}
		export, err := readValue[string](ctx, tx, `SELECT coalesce((SELECT ex.id::text FROM export_sources so JOIN exports ex ON ex.id = so.export_id
			WHERE so.conversation_set_id = $1 AND ex.state IN ('queued', 'running') LIMIT 1), '')`, id)
		if err != nil {
			return err
		}
		if export != "" {
			return relabel.Errorf(relabel.CodeConflict, "the export %s with these conversations is being built: wait for it, or end it with `relabel export cancel %s`", export, export)
		}
		_, err = tx.Exec(ctx, "DELETE FROM conversation_sets WHERE id = $1", id)
		return err
	})
}

// cutConversations makes a part of each chunk of a set.
func cutConversations(ctx context.Context, tx pgx.Tx, source int, set relabel.ConversationSet) ([]relabel.ExportPart, error) {
	rows, _ := tx.Query(ctx, "SELECT number FROM conversation_chunks WHERE set_id = $1 ORDER BY number", set.ID)
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err == nil && len(numbers) == 0 {
		err = relabel.Errorf(relabel.CodeNotFound, "the conversation set %s was deleted", set.Name).On("mix")
	}
	var parts []relabel.ExportPart
	for _, n := range numbers {
		parts = append(parts, relabel.ExportPart{Source: source, Chunk: &n, Trajectories: []relabel.PartTrajectory{}})
	}
	return parts, err
}

// exportConversations yields the conversations of a part as trajectories.
func (s *Store) exportConversations(ctx context.Context, set relabel.ConversationSet, part relabel.ExportPart) iter.Seq2[relabel.ExportTrajectory, error] {
	return func(yield func(relabel.ExportTrajectory, error) bool) {
		content, err := readValue[[]byte](ctx, s.pool, "SELECT content FROM conversation_chunks WHERE set_id = $1 AND number = $2", set.ID, part.Chunk)
		if err != nil {
			yield(relabel.ExportTrajectory{}, notFound("chunk of the conversation set", set.Name, err))
			return
		}
		for c, err := range conversations.Unpack(content) {
			if err != nil {
				yield(relabel.ExportTrajectory{}, err)
				return
			}
			if !yield(c.Trajectory(set), nil) {
				return
			}
		}
	}
}
