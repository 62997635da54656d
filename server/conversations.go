package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
	"relabel/api"
	"relabel/conversations"
)

func (s *site) addConversations() {
	upload := operation(http.MethodPost, "/v1/conversations", "conversations", "import-conversations", "Import conversations",
		"Stores a file of conversations that were not collected, such as general data, which exports can mix in. Every message of the assistant is trained on, unless it has a flag "+
			"(weight, train, trainable, loss or step_loss_mask) of 0 or false. The file is imported completely or not at all.")
	upload.RequestBody = &huma.RequestBody{Required: true, Description: "JSONL, one conversation per line: messages (role, content, tool_calls, tool_call_id, reasoning_content) and, if it has any, tools. At most 8 GiB; a line at most 12 MiB.",
		Content: map[string]*huma.MediaType{"application/x-ndjson": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}
	add(s, upload, s.importConversations)
	add(s, operation(http.MethodGet, "/v1/conversations", "conversations", "list-conversations", "List conversation sets", "All conversation sets, newest first."), s.listConversations)
	add(s, operation(http.MethodGet, "/v1/conversations/{set}", "conversations", "show-conversations", "Show a conversation set", "One conversation set."), s.showConversations)
	add(s, operation(http.MethodDelete, "/v1/conversations/{set}", "conversations", "delete-conversations", "Delete a conversation set",
		"Deletes a conversation set. Refused while an export with it is being built; exports that are done stay."), s.deleteConversations)
}

type importConversations struct {
	Name string `query:"name" required:"true" minLength:"1" maxLength:"200" doc:"The set's name, which no other has."`
}

func (s *site) importConversations(ctx context.Context, in *importConversations) (*of[relabel.ConversationSet], error) {
	if err := checkNewName(in.Name); err != nil {
		return nil, err
	}
	upload, digest := uploadOf(ctx)
	if upload.Size() == 0 {
		return nil, relabel.Errorf(api.CodeMalformed, "the request has no body; send the file as it is")
	}
	leave, err := s.bodies.beginImport(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if _, err := s.Store.FindConversationSet(ctx, in.Name); err == nil {
		return nil, relabel.Errorf(relabel.CodeConflict, "there is a conversation set of this name already").On("name")
	}
	set := relabel.ConversationSet{ID: relabel.NewID(), Name: in.Name, Digest: digest}
	lines := conversations.Read(untilRead{untilDone{ctx, upload}})
	err = s.Store.CreateConversationSet(ctx, &set, conversations.Chunks(lines, conversations.ChunkBytes, &set))
	return one(set, err)
}

// untilRead fails to read when the request is over.
type untilRead struct{ untilDone }

// Read reads from the upload.
func (u untilRead) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.SectionReader.Read(p)
}

func (s *site) listConversations(ctx context.Context, in *api.PageQuery) (*of[api.Page[relabel.ConversationSet]], error) {
	return pageOf(s.Store.ListConversationSets(ctx, page(*in)))
}

// ConversationsPath names a conversation set.
type ConversationsPath struct {
	Set string `path:"set" maxLength:"200" doc:"Its name or id."`
}

func (s *site) showConversations(ctx context.Context, in *ConversationsPath) (*of[relabel.ConversationSet], error) {
	return one(s.Store.FindConversationSet(ctx, in.Set))
}

func (s *site) deleteConversations(ctx context.Context, in *ConversationsPath) (*of[relabel.ConversationSet], error) {
	set, err := s.Store.FindConversationSet(ctx, in.Set)
	if err != nil {
		return nil, err
	}
	return one(set, s.Store.DeleteConversationSet(ctx, set.ID))
}
