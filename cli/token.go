package cli

import (
	"context"
	"errors"
	"fmt"

	"relabel"
)

// TokenCommand is `relabel token`. It uses the database directly: it needs no token.
type TokenCommand struct {
	Create tokenCreate `cmd:"" help:"Create a token and print it once; only its hash is stored."`
	List   tokenList   `cmd:"" help:"List tokens."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token."`
}

func withTokens(ctx context.Context, p *Ports, f DatabaseFlags, use func(TokenStore) error) error {
	tokens, err := p.OpenTokens(ctx, f)
	if err != nil {
		return err
	}
	return errors.Join(use(tokens), tokens.Close(ctx))
}

// tokenCreate is `relabel token create NAME`.
type tokenCreate struct {
	DatabaseFlags
	Name string `arg:"" help:"Name of its user."`
	Read bool   `help:"The token can read everything and change nothing."`
}

// Run prints the new token.
func (c *tokenCreate) Run(ctx context.Context, p *Ports) error {
	return withTokens(ctx, p, c.DatabaseFlags, func(tokens TokenStore) error {
		access := relabel.FullAccess
		if c.Read {
			access = relabel.ReadAccess
		}
		secret, err := tokens.CreateToken(ctx, c.Name, access)
		if err == nil {
			fmt.Println(secret)
		}
		return err
	})
}

// tokenList is `relabel token list`.
type tokenList struct{ DatabaseFlags }

// Run prints the tokens' names.
func (c *tokenList) Run(ctx context.Context, p *Ports) error {
	return withTokens(ctx, p, c.DatabaseFlags, func(tokens TokenStore) error {
		all, err := tokens.ListTokens(ctx)
		if err != nil {
			return err
		}
		return printTable(all, []string{"NAME", "ACCESS", "CREATED", "REVOKED"}, func(t relabel.Token) []any {
			return []any{t.Name, t.Access, t.CreatedAt, t.RevokedAt != nil}
		})
	})
}

// tokenRevoke is `relabel token revoke NAME`.
type tokenRevoke struct {
	DatabaseFlags
	Name string `arg:"" help:"Name of the token."`
}

// Run revokes the token.
func (c *tokenRevoke) Run(ctx context.Context, p *Ports) error {
	return withTokens(ctx, p, c.DatabaseFlags, func(tokens TokenStore) error { return tokens.RevokeToken(ctx, c.Name) })
}
