package relabel

// ExportRow is one row of a view of an export, as it is stored. What its view does not
// have is empty. Lists that are aligned have one entry a token.
type ExportRow struct {
	ID string // row_id; "" in bare rows

	// The messages view: a state st, the tools and the label ãt as JSON text.
	Messages, Tools, Label string

	// The token views. Labels are unshifted, Unsupervised where nothing is trained on;
	// weights stand at the index of their label.
	IDs, Labels []int32
	Weights     []float32
	Spans       []ExportSpan

	// Aligned: linear has both masks, packed and tree have positions, packed a loss mask.
	AttentionMask, LossMask, Positions []int32
	SeqLengths, SeqStarts              []int32 // packed: a sequence each
	SubtreeEnd                         []int32 // tree, aligned: token q sees token k where k <= q < SubtreeEnd[k]
	NodeStart, NodeParent, NodeKind    []int32 // tree: a node each, in depth-first preorder

	// Aligned where the export has them, else empty.
	TeacherLogprobs, StudentLogprobs, Advantages []float32
}

// Unsupervised is the label of a token that is not trained on.
const Unsupervised = -100

// The kinds of a node of the tree view.
const (
	TrunkNode   = 0
	LeafNode    = 1
	PaddingNode = 2
)

// ExportSpan is the supervised tokens of one label in a row, the stop token included.
type ExportSpan struct {
	Trajectory    string
	Turn          int    // t, from 1
	Kind          string // trunk or leaf
	Start, Length int    // in tokens of the row
	Weight        *float32
	Iteration     int
	Beta          *float32
	IDs           string // rendered or served
}

// End is the place after the span's last token.
func (s ExportSpan) End() int { return s.Start + s.Length }

// HeldLabel is a label with the row of a view that holds it, from 0. Where rows do not say
// where their labels stand (the messages view), its span has trajectory and turn alone.
type HeldLabel struct {
	Row  int
	Span ExportSpan
}

// ShownRow is a row of an export with what people need to read it.
type ShownRow struct {
	Row   ExportRow
	File  string   // that holds it
	Of    int      // rows of the view
	Texts []string // of its tokens, one each, not always whole characters; nil where nothing here can decode them
}
