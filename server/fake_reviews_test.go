package server_test

import (
	"context"
	"slices"
	"time"

	"relabel"
)

func (m *memory) CreateReview(ctx context.Context, r relabel.Review) error {
	tr, err := m.FindTrajectory(ctx, r.TrajectoryID)
	if err != nil {
		return err
	}
	r.RunID, r.InstanceID, r.CreatedAt = tr.RunID, tr.InstanceID, time.Now()
	return add(m, &m.reviews, r)
}

func (m *memory) FindReview(_ context.Context, trajectory, id relabel.ID) (relabel.Review, error) {
	return find(m, &m.reviews, func(r relabel.Review) bool { return r.ID == id && r.TrajectoryID == trajectory })
}

func (m *memory) EditReview(ctx context.Context, r relabel.Review) (relabel.Review, error) {
	m.mu.Lock()
	for i, was := range m.reviews {
		if was.ID == r.ID && was.TrajectoryID == r.TrajectoryID {
			r.RunID, r.InstanceID, r.CreatedAt, r.EditedAt = was.RunID, was.InstanceID, was.CreatedAt, new(time.Now())
			m.reviews[i] = r
		}
	}
	m.mu.Unlock()
	return m.FindReview(ctx, r.TrajectoryID, r.ID)
}

func (m *memory) DeleteReview(ctx context.Context, trajectory, id relabel.ID) error {
	if _, err := m.FindReview(ctx, trajectory, id); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reviews = slices.DeleteFunc(m.reviews, func(r relabel.Review) bool { return r.ID == id })
	return nil
}

func (m *memory) ListReviews(_ context.Context, f relabel.ReviewFilter, p relabel.Page) ([]relabel.Review, string, error) {
	return page(m, m.reviews, p, func(r relabel.Review) relabel.ID { return r.ID }, func(r relabel.Review) bool {
		return (f.RunID == nil || *f.RunID == r.RunID) && (f.TrajectoryID == nil || *f.TrajectoryID == r.TrajectoryID) &&
			(f.Flag == "" || f.Flag == r.Flag || f.Flag == relabel.AnyFlag && r.Flag != "")
	})
}
