package server_test

import (
	"context"
	"slices"

	"relabel"
)

func (m *memory) BeginAudit(_ context.Context, e relabel.AuditEntry, _ relabel.Caller) error {
	if m.noAudit != nil {
		return m.noAudit
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.audit = append(m.audit, e)
	return nil
}

func (m *memory) EndAudit(_ context.Context, id relabel.ID, status int, resource string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.audit {
		if e := &m.audit[i]; e.ID == id {
			e.Status = status
			if resource != "" {
				e.Resource = resource
			}
		}
	}
	return nil
}

func (m *memory) CountAudit(_ context.Context, id, at relabel.ID, _ int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.audit = slices.DeleteFunc(m.audit, func(e relabel.AuditEntry) bool { return e.ID == id })
	for i := range m.audit {
		if m.audit[i].ID == at {
			m.audit[i].More++
		}
	}
	return nil
}

func (m *memory) ListAudit(_ context.Context, _ relabel.AuditFilter, p relabel.Page) ([]relabel.AuditEntry, string, error) {
	return page(m, m.audit, p, func(e relabel.AuditEntry) relabel.ID { return e.ID }, func(relabel.AuditEntry) bool { return true })
}

func (m *memory) CountRun(ctx context.Context, id relabel.ID) (relabel.RunContents, error) {
	_, err := m.FindRun(ctx, id)
	return relabel.RunContents{}, err
}

func (m *memory) BeginDeletion(ctx context.Context, id relabel.ID) error {
	_, err := m.FindRun(ctx, id)
	return err
}

func (m *memory) FinishDeletion(ctx context.Context, _ relabel.ID) error {
	if m.slowDeletion {
		<-ctx.Done()
	}
	return ctx.Err()
}
