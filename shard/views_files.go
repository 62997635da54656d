package shard

import (
	"context"

	"golang.org/x/sync/errgroup"

	"relabel/shard/outfile"
)

// rowFunc returns a row of a view by its number, counting from 0. The row's memory is reused by the next call.
type rowFunc[R any] func(i int) (R, outfile.Size, error)

// sideBySide writes the files of a view in parallel, deal giving the number of rows per file. begin returns the writer
// of one file and a function for its rows, which no other goroutine uses; the part that it receives has the file's
// number. A file that reaches its size limit goes on in one whose number lies behind those of all files of deal.
func sideBySide[R any](ctx context.Context, p part, deal []int, tokens int64, begin func(part) (*outfile.Writer[R], rowFunc[R])) (viewFigures, error) {
	written := make([]viewFigures, len(deal))
	work, ctx := errgroup.WithContext(ctx)
	from := 0
	for k, n := range deal {
		first := from
		from += n
		work.Go(func() (err error) {
			step := max(p.Step, 1)
			one := p
			one.First, one.Step = p.First+k*step, step*len(deal)
			w, row := begin(one)
			written[k], err = rowsOf(ctx, w, one, []int{n}, 0, func(i int) (R, outfile.Size, error) { return row(first + i) })
			return err
		})
	}
	all := viewFigures{Tokens: tokens}
	err := work.Wait()
	for _, f := range written {
		all.Rows += f.Rows
		all.Files = append(all.Files, f.Files...)
	}
	return all, err
}

// rowsOf writes rows to files one after the other, deal giving the number of rows per file. It asks for rows in
// ascending order.
func rowsOf[R any](ctx context.Context, w *outfile.Writer[R], p part, deal []int, tokens int64, row rowFunc[R]) (viewFigures, error) {
	if p.Cores != nil {
		if err := p.Cores.Acquire(ctx, 1); err != nil {
			return viewFigures{}, err
		}
		defer p.Cores.Release(1)
	}
	defer w.Abort()
	next, given := 0, 0
	for _, n := range deal {
		f, same, err := finished(p, w.Path(), next, n, row)
		if err != nil {
			return viewFigures{}, err
		}
		if same {
			w.Skip(f)
			next, given = next+n, given+1
			continue
		}
		for range n {
			r, size, err := row(next)
			if err == nil {
				err = w.Write(r, size)
			}
			if err != nil {
				return viewFigures{}, err
			}
			next++
		}
		if err := w.EndFile(); err != nil {
			return viewFigures{}, err
		}
		for ; p.Put != nil && given < len(w.Files()); given++ { // more than one if a file reached its size limit
			if err := p.Put(w.Files()[given]); err != nil {
				return viewFigures{}, err
			}
		}
	}
	files, err := w.Close()
	return viewFigures{Files: files, Rows: next, Tokens: tokens}, err
}

// finished returns the file at a path that an earlier attempt finished, if it has the number
// of rows and tokens that it would get now: it may have been built on a machine with other
// tokenizer or template files. Messages are not compared by tokens, because their rows can be
// read only once.
func finished[R any](p part, path string, from, n int, row rowFunc[R]) (f outfile.File, same bool, err error) {
	f, there := p.Done[path]
	if !there || f.Rows != n || f.Tokens == 0 {
		return f, there && f.Rows == n, nil
	}
	tokens, supervised := 0, 0
	for i := range n {
		_, size, err := row(from + i)
		if err != nil {
			return f, false, err
		}
		tokens, supervised = tokens+size.Tokens, supervised+size.Supervised
	}
	return f, tokens == f.Tokens && supervised == f.SupervisedTokens, nil
}
