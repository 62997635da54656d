package store

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const tokenizerSelect = `SELECT tk.id, tk.name, tk.version, tk.hash, ts.bytes, ts.files, tk.created_at
	FROM tokenizers tk JOIN tokenizer_sets ts ON ts.hash = tk.hash`

// CreateTokenizer registers files, which Check has accepted, as the next version of a name. If
// the newest version has the same files, it returns that one. Files are stored once, under any
// number of names.
func (s *Store) CreateTokenizer(ctx context.Context, name string, files relabel.TokenizerFiles) (relabel.Tokenizer, error) {
	t := relabel.Tokenizer{Name: name, Hash: files.Hash(), Bytes: files.Bytes(), Files: files.List()}
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		// One at a time per name: versions have no gaps or duplicates.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('tokenizer ' || current_schema() || ' ' || $1, 0))", name); err != nil {
			return err
		}
		newest, err := readOne[relabel.Tokenizer](ctx, tx,
			tokenizerSelect+" WHERE tk.name = $1 ORDER BY tk.version DESC LIMIT 1", name)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
		case err != nil:
			return err
		case newest.Hash == t.Hash:
			t = newest
			return nil
		case newest.Version >= relabel.MaxTokenizerVersions:
			return relabel.Errorf(relabel.CodeConflict, "the name has %d versions already: use another name", newest.Version).On("name")
		}
		if err := insertTokenizerSet(ctx, tx, t, files); err != nil {
			return err
		}
		t.ID, t.Version = relabel.NewID(), newest.Version+1
		return tx.QueryRow(ctx, "INSERT INTO tokenizers (id, name, version, hash) VALUES ($1, $2, $3, $4) RETURNING created_at",
			t.ID, t.Name, t.Version, t.Hash).Scan(&t.CreatedAt)
	})
	if err != nil {
		return relabel.Tokenizer{}, err
	}
	return t, nil
}

// insertTokenizerSet stores new files. It locks the row of existing files against their
// deletion.
func insertTokenizerSet(ctx context.Context, tx pgx.Tx, t relabel.Tokenizer, files relabel.TokenizerFiles) error {
	tag, err := tx.Exec(ctx, "INSERT INTO tokenizer_sets (hash, bytes, files) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING", t.Hash, t.Bytes, t.Files)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		_, err := tx.Exec(ctx, "SELECT 1 FROM tokenizer_sets WHERE hash = $1 FOR KEY SHARE", t.Hash)
		return err
	}
	for _, f := range t.Files {
		if _, err := tx.Exec(ctx, "INSERT INTO tokenizer_files (hash, name, content) VALUES ($1, $2, $3)", t.Hash, f.Name, files[f.Name]); err != nil {
			return err
		}
	}
	return nil
}

// FindTokenizer finds a registered tokenizer by name (its newest version), name@version, or the
// hash of its files (its newest use). CodeNotFound if there is none.
func (s *Store) FindTokenizer(ctx context.Context, word string) (relabel.Tokenizer, error) {
	if !relabel.IsTokenizerHash(word) && !relabel.IsTokenizerWord(word) {
		return relabel.Tokenizer{}, relabel.Errorf(relabel.CodeNotFound, "there is no tokenizer %.120q", word)
	}
	base, suffix, _ := strings.Cut(word, "@")
	version, _ := strconv.Atoi(suffix) // 0 if there is none
	where, args := " WHERE tk.name = $1 AND ($2 = 0 OR tk.version = $2) ORDER BY tk.version DESC LIMIT 1", []any{base, version}
	if relabel.IsTokenizerHash(word) {
		where, args = " WHERE tk.hash = $1 ORDER BY tk.created_at DESC, tk.id DESC LIMIT 1", []any{word}
	}
	return find[relabel.Tokenizer](ctx, s, "tokenizer", word, tokenizerSelect+where, args...)
}

// FindTokenizerFiles returns the files with a hash. CodeNotFound if there are none.
func (s *Store) FindTokenizerFiles(ctx context.Context, hash string) (relabel.TokenizerFiles, error) {
	files, err := readMap[string, []byte](ctx, s.pool, "SELECT name, content FROM tokenizer_files WHERE hash = $1", hash)
	if err == nil && len(files) == 0 {
		err = pgx.ErrNoRows
	}
	return files, notFound("tokenizer with the hash", hash, err)
}

// ReadTokenizerFile returns 1 to limit bytes of a registered file from a position. CodeNotFound
// if there is no such file or it ends before.
func (s *Store) ReadTokenizerFile(ctx context.Context, hash, name string, from int64, limit int) ([]byte, error) {
	chunk, err := readValue[[]byte](ctx, s.pool, "SELECT substring(content FROM $3 FOR $4) FROM tokenizer_files WHERE hash = $1 AND name = $2 AND octet_length(content) > $3 - 1",
		hash, name, from+1, limit)
	return chunk, notFound("file "+name+" of the tokenizer with the hash", hash, err)
}

// ListTokenizers lists versions of registered tokenizers, newest first. CodeInvalid for an
// invalid page.
func (s *Store) ListTokenizers(ctx context.Context, p relabel.Page) ([]relabel.Tokenizer, string, error) {
	l := list[relabel.Tokenizer]{query: tokenizerSelect, key: "tk",
		keyOf: func(t relabel.Tokenizer) cursor { return cursor{t.CreatedAt, t.ID} }}
	return l.page(ctx, s, p)
}

// DeleteTokenizer deletes all versions of a name, and the files that no other name uses.
// CodeConflict if a policy or an unfinished export uses such files, CodeNotFound if there is no
// such name.
func (s *Store) DeleteTokenizer(ctx context.Context, name string) error {
	if strings.Contains(name, "@") || relabel.IsTokenizerHash(name) {
		t, err := s.FindTokenizer(ctx, name)
		if err != nil {
			return err
		}
		return relabel.Errorf(relabel.CodeInvalid, "names one version, and a tokenizer is deleted with all its versions: give its name, %s", t.Name).On("tokenizer")
	}
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		hashes, err := readColumn[string](ctx, tx,
			`SELECT hash FROM tokenizer_sets WHERE hash IN (SELECT hash FROM tokenizers WHERE name = $1) ORDER BY hash FOR UPDATE`, validUTF8(name))
		if err != nil {
			return err
		}
		if len(hashes) == 0 {
			if again {
				return nil
			}
			return relabel.Errorf(relabel.CodeNotFound, "there is no tokenizer %.120q", name)
		}
		if _, err := tx.Exec(ctx, "DELETE FROM tokenizers WHERE name = $1", name); err != nil {
			return err
		}
		for _, hash := range hashes {
			if err := deleteTokenizerSet(ctx, tx, name, hash); err != nil {
				return err
			}
		}
		return nil
	})
}

// deleteTokenizerSet deletes files unless another name uses them. name is the deleted name.
func deleteTokenizerSet(ctx context.Context, tx pgx.Tx, name, hash string) error {
	var named bool
	var policy, export string
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM tokenizers WHERE hash = $1),
		coalesce((SELECT name || '@' || version FROM policies WHERE tokenizer_hash = $1 ORDER BY created_at DESC LIMIT 1), ''),
		coalesce((SELECT id::text FROM exports WHERE tokenizer_hash = $1 AND state IN ('queued', 'running') LIMIT 1), '')`, hash).Scan(&named, &policy, &export)
	switch {
	case err != nil || named:
		return err
	case policy != "":
		return relabel.Errorf(relabel.CodeConflict, "the tokenizer %s cannot be deleted: the policy %s uses it", name, policy)
	case export != "":
		return relabel.Errorf(relabel.CodeConflict, "the tokenizer %s is used by the export %s, which has not ended: wait for it, or cancel it", name, export)
	}
	_, err = tx.Exec(ctx, "DELETE FROM tokenizer_sets WHERE hash = $1", hash)
	return err
}
