package server_test

import (
	"context"
	"slices"
	"time"

	"relabel"
)

func (m *memory) CreateExport(_ context.Context, e relabel.Export) error {
	e.CreatedAt = time.Now()
	return add(m, &m.exports, e)
}

func (m *memory) FindExport(_ context.Context, id relabel.ID) (relabel.Export, error) {
	return find(m, &m.exports, func(e relabel.Export) bool { return e.ID == id })
}

func (m *memory) CancelExport(_ context.Context, id relabel.ID) error {
	return m.endExport(id, func(e *relabel.Export) error {
		if e.State != relabel.ExportQueued && e.State != relabel.ExportCancelled {
			return relabel.Errorf(relabel.CodeConflict, "the export is %s", e.State)
		}
		e.State = relabel.ExportCancelled
		return nil
	})
}

func (m *memory) DeleteExport(_ context.Context, id relabel.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.exports = slices.DeleteFunc(m.exports, func(e relabel.Export) bool { return e.ID == id })
	return nil
}

func (m *memory) endExport(id relabel.ID, end func(*relabel.Export) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.exports {
		if m.exports[i].ID == id {
			return end(&m.exports[i])
		}
	}
	return relabel.Errorf(relabel.CodeNotFound, "there is no export %s", id)
}

func (m *memory) ListExports(_ context.Context, f relabel.ExportFilter, p relabel.Page) ([]relabel.Export, string, error) {
	return page(m, m.exports, p, func(e relabel.Export) relabel.ID { return e.ID }, func(e relabel.Export) bool {
		return f.RunID == nil || e.Selection.RunID == *f.RunID
	})
}

// CreatePush is the store's.
func (m *memory) CreatePush(_ context.Context, export relabel.ID, p relabel.ExportPush) (number int, err error) {
	err = m.endExport(export, func(e *relabel.Export) error {
		if open := e.OpenPush(); open != nil {
			number = open.Number
			return nil
		}
		number = len(e.Pushes) + 1
		p.Number, p.State, p.CreatedAt = number, relabel.ExportQueued, time.Now()
		e.Pushes = slices.Insert(e.Pushes, 0, p)
		return nil
	})
	return number, err
}

// CancelPush is the store's.
func (m *memory) CancelPush(_ context.Context, export relabel.ID) error {
	return m.endExport(export, func(e *relabel.Export) error {
		open := e.OpenPush()
		if open == nil {
			return relabel.Errorf(relabel.CodeConflict, "no push of the export is open")
		}
		open.State, open.EndedAt = relabel.ExportCancelled, new(time.Now())
		return nil
	})
}
