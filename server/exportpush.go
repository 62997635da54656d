package server

import (
	"context"

	"relabel"
	"relabel/api"
)

func (s *site) addPushes() {
	add(s, action("/v1/exports/{id}/push", "exports", "push-export", "Push a finished export to the Hugging Face Hub",
		"Queues a push of all files in one commit, and answers with the export, whose pushes have it with the newest first. A worker pushes, with the token of its environment. "+
			"While it is open, the same request does not queue it again; after any failure it continues: what the Hub has is not sent again, and there is no second commit with the same files."), s.pushExport)
	add(s, action("/v1/exports/{id}/push/cancel", "exports", "cancel-push", "Cancel the push of an export",
		"Ends the open push of an export. What it has uploaded stays on the Hub without a commit, and the next push uses it."), s.cancelPush)
}

func (s *site) pushExport(ctx context.Context, in *struct {
	IDPath
	Body api.PushExport
}) (*of[relabel.Export], error) {
	e, err := s.Store.FindExport(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if e.State != relabel.ExportDone {
		return nil, relabel.Errorf(relabel.CodeConflict, "the export is %s: only one that is done can be pushed", e.State)
	}
	p, err := s.Exports.PreparePush(ctx, e, relabel.ExportPush{Destination: in.Body.Destination, AllowSecrets: in.Body.AllowSecrets})
	if err != nil {
		return nil, err
	}
	if _, err := s.Store.CreatePush(ctx, e.ID, p); err != nil {
		return nil, err
	}
	return s.findExport(ctx, e.ID)
}

func (s *site) cancelPush(ctx context.Context, in *IDPath) (*of[relabel.Export], error) {
	if err := s.Store.CancelPush(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.findExport(ctx, in.ID)
}
