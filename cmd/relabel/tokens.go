package main

import (
	"context"
	"errors"
	"fmt"

	"relabel"
)

// tokenCommand is `relabel token`. It works on the database itself: whoever can reach
// that needs no token.
type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Make a token and print it once; only its hash is stored."`
	List   tokenList   `cmd:"" help:"List tokens."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token."`
}

// withDatabase opens the database of a running server, or the database itself.
func (f databaseFlags) withDatabase(ctx context.Context, use func(*database) error) error {
	open := f.openDatabase
	if f.Database == "" && f.running(ctx) != nil {
		open = f.joinDatabase
	}
	db, err := open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(use(db), db.Close(ctx))
}

// tokenCreate is `relabel token create NAME`.
type tokenCreate struct {
	databaseFlags
	Name string `arg:"" help:"Who will use it."`
	Read bool   `help:"It may look at everything and change nothing."`
}

// Run prints the new token.
func (c *tokenCreate) Run(ctx context.Context) error {
	return c.withDatabase(ctx, func(db *database) error {
		access := relabel.FullAccess
		if c.Read {
			access = relabel.ReadAccess
		}
		secret, err := db.CreateToken(ctx, c.Name, access)
		if err == nil {
			fmt.Println(secret)
		}
		return err
	})
}

// tokenList is `relabel token list`.
type tokenList struct{ databaseFlags }

// Run prints the tokens' names.
func (c *tokenList) Run(ctx context.Context) error {
	return c.withDatabase(ctx, func(db *database) error {
		tokens, err := db.ListTokens(ctx)
		if err != nil {
			return err
		}
		t := newTable("NAME", "ACCESS", "CREATED", "REVOKED")
		for _, k := range tokens {
			t.row(k.Name, string(k.Access), k.CreatedAt.Format("2006-01-02 15:04"), yes(k.RevokedAt != nil))
		}
		return t.print()
	})
}

// tokenRevoke is `relabel token revoke NAME`.
type tokenRevoke struct {
	databaseFlags
	Name string `arg:"" help:"Name of the token."`
}

// Run revokes the token.
func (c *tokenRevoke) Run(ctx context.Context) error {
	return c.withDatabase(ctx, func(db *database) error { return db.RevokeToken(ctx, c.Name) })
}
