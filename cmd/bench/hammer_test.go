package bench

import "context"

func hammer(ctx context.Context, o orders) error { return nil }
