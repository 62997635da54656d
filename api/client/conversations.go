package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"relabel"
)

// ImportConversations imports a JSONL file of size bytes as a conversation set.
func (c *Client) ImportConversations(ctx context.Context, name string, content io.Reader, size int64) (relabel.ConversationSet, error) {
	return post[relabel.ConversationSet](ctx, c, under(at("conversations"), url.Values{"name": {name}}), file{"application/x-ndjson", content, size})
}

// ConversationSets lists all conversation sets, newest first.
func (c *Client) ConversationSets(ctx context.Context) ([]relabel.ConversationSet, error) {
	return list[relabel.ConversationSet](ctx, c, at("conversations"), nil)
}

// ConversationSet returns a set by its name or id.
func (c *Client) ConversationSet(ctx context.Context, word string) (relabel.ConversationSet, error) {
	return get[relabel.ConversationSet](ctx, c, at("conversations", word))
}

// DeleteConversationSet deletes a set by its name or id.
func (c *Client) DeleteConversationSet(ctx context.Context, word string) error {
	return c.Send(ctx, http.MethodDelete, at("conversations", word), nil, nil)
}
