package cli

import (
	"strconv"
	"strings"

	"github.com/google/uuid"

	"relabel"
	"relabel/api"
)

// trainedFlags name the exports that a model was trained on.
type trainedFlags struct {
	TrainedOn []string `placeholder:"EXPORT[=EPOCHS]" help:"Export that the model was trained on since --trained-from, with the passes over it (a fraction if training stopped within one); may be repeated. Default of EPOCHS: --epochs, else those of the trainer settings of the export's run."`
	Epochs    *float64 `placeholder:"N" help:"Passes over each export of --trained-on without EPOCHS."`
}

// trained reads the exports that the model was trained on.
func (c *trainedFlags) trained() (all []api.NewTrainedOn, err error) {
	if c.Epochs != nil && len(c.TrainedOn) == 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "needs --trained-on").On("--epochs")
	}
	for _, word := range c.TrainedOn {
		text, epochs, given := strings.Cut(word, "=")
		on := api.NewTrainedOn{Epochs: c.Epochs}
		if on.Export, err = uuid.Parse(text); err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%q is not the id of an export; relabel export list shows them", text).On("--trained-on")
		}
		if given {
			number, err := strconv.ParseFloat(epochs, 64)
			if err != nil {
				return nil, relabel.Errorf(relabel.CodeInvalid, "%q is not a number of epochs", epochs).On("--trained-on")
			}
			on.Epochs = &number
		}
		if err := api.Validate(on, api.NewTrainedOn{}, "--trained-on"); err != nil {
			return nil, err
		}
		all = append(all, on)
	}
	return all, nil
}
