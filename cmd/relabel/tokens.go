package main

import (
	"context"
	"errors"
	"fmt"

	"relabel"
	"relabel/cli"
)

// tokenCommand is `relabel token`. It works on the database itself: whoever can reach
// that needs no token.
type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Make a token and print it once; only its hash is stored."`
	List   tokenList   `cmd:"" help:"List tokens."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token."`
}

// withDatabase opens the database of a running server, or the database itself.
func withDatabase(ctx context.Context, f cli.DatabaseFlags, use func(*database) error) error {
	open := openDatabase
	if f.Database == "" && f.Running(ctx) != nil {
		open = joinDatabase
	}
	db, err := open(ctx, f)
	if err != nil {
		return err
	}
	return errors.Join(use(db), db.Close(ctx))
}

// tokenCreate is `relabel token create NAME`.
type tokenCreate struct {
	cli.DatabaseFlags
	Name string `arg:"" help:"Who will use it."`
	Read bool   `help:"It may look at everything and change nothing."`
}

// Run prints the new token.
func (c *tokenCreate) Run(ctx context.Context) error {
	return withDatabase(ctx, c.DatabaseFlags, func(db *database) error {
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
type tokenList struct{ cli.DatabaseFlags }

// Run prints the tokens' names.
func (c *tokenList) Run(ctx context.Context) error {
	return withDatabase(ctx, c.DatabaseFlags, func(db *database) error {
		tokens, err := db.ListTokens(ctx)
		if err != nil {
			return err
		}
		t := cli.NewTable("NAME", "ACCESS", "CREATED", "REVOKED")
		for _, k := range tokens {
			t.Row(k.Name, string(k.Access), k.CreatedAt.Format("2006-01-02 15:04"), cli.Yes(k.RevokedAt != nil))
		}
		return t.Print()
	})
}

// tokenRevoke is `relabel token revoke NAME`.
type tokenRevoke struct {
	cli.DatabaseFlags
	Name string `arg:"" help:"Name of the token."`
}

// Run revokes the token.
func (c *tokenRevoke) Run(ctx context.Context) error {
	return withDatabase(ctx, c.DatabaseFlags, func(db *database) error { return db.RevokeToken(ctx, c.Name) })
}
