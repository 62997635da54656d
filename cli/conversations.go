package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"relabel"
)

// ConversationsCommand is `relabel conversations`.
type ConversationsCommand struct {
	Import conversationsImport `cmd:"" help:"Import a JSONL file of conversations, which exports can mix in."`
	List   conversationsList   `cmd:"" help:"List conversation sets, newest first."`
	Delete conversationsDelete `cmd:"" help:"Delete a conversation set; refused while an export with it is being built."`
}

// conversationsImport is `relabel conversations import FILE`.
type conversationsImport struct {
	ClientFlags
	File string `arg:"" type:"existingfile" help:"JSONL, one conversation per line: messages and, if it has any, tools. Imported completely or not at all."`
	Name string `placeholder:"NAME" help:"Name of the set. Default: the file's, without its extension."`
}

// Run imports the file.
func (c *conversationsImport) Run(ctx context.Context) error {
	name := c.Name
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close() // read only; the request may have closed it
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return c.With(ctx, func(cl *Session) error {
		set, err := cl.ImportConversations(ctx, name, f, info.Size())
		if err != nil {
			return err
		}
		say("%s  %s: %d conversations, %d messages to train on", set.ID, set.Name, set.Conversations, set.Labels)
		return nil
	})
}

// conversationsList is `relabel conversations list`.
type conversationsList struct{ ClientFlags }

// Run prints the sets.
func (c *conversationsList) Run(ctx context.Context) error {
	heads := []string{"ID", "NAME", "CONVERSATIONS", "LABELS", "BYTES", "IMPORTED"}
	return list(ctx, c.ClientFlags, (*Session).ConversationSets, heads, func(s relabel.ConversationSet) []any {
		return []any{s.ID, s.Name, s.Conversations, s.Labels, s.Bytes, s.CreatedAt}
	})
}

// conversationsDelete is `relabel conversations delete NAME`.
type conversationsDelete struct {
	ClientFlags
	Set string `arg:"" help:"Name or id of the set."`
}

// Run deletes the set.
func (c *conversationsDelete) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		if _, err := named(0, cl.DeleteConversationSet(ctx, c.Set), "conversation set", c.Set, "conversations list"); err != nil {
			return err
		}
		fmt.Println("deleted: " + c.Set)
		return nil
	})
}
