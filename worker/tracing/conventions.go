package tracing

// schema names the version of the semantic conventions whose keys follow.
const schema = "https://opentelemetry.io/schemas/1.41.0"

// Operations of generative AI, which also begin the names of spans.
const (
	operationAgent = "invoke_agent"
	operationChat  = "chat"
	operationText  = "text_completion"
	operationTool  = "execute_tool"
)

// Keys of the semantic conventions.
const (
	operationName      = "gen_ai.operation.name"
	providerName       = "gen_ai.provider.name"
	agentName          = "gen_ai.agent.name"
	conversationID     = "gen_ai.conversation.id"
	requestModel       = "gen_ai.request.model"
	requestTemperature = "gen_ai.request.temperature"
	requestTopP        = "gen_ai.request.top_p"
	requestMaxTokens   = "gen_ai.request.max_tokens"
	requestSeed        = "gen_ai.request.seed"
	responseModel      = "gen_ai.response.model"
	finishReasons      = "gen_ai.response.finish_reasons"
	inputTokens        = "gen_ai.usage.input_tokens"
	outputTokens       = "gen_ai.usage.output_tokens"
	cachedTokens       = "gen_ai.usage.cache_read.input_tokens"
	toolName           = "gen_ai.tool.name"
	toolType           = "gen_ai.tool.type"
	toolCallID         = "gen_ai.tool.call.id"
	evaluationName     = "gen_ai.evaluation.name"
	evaluationScore    = "gen_ai.evaluation.score.value"
	evaluationLabel    = "gen_ai.evaluation.score.label"
	serverAddress      = "server.address"
	serverPort         = "server.port"
	errorType          = "error.type"
	serviceName        = "service.name"
	serviceVersion     = "service.version"
	serviceInstance    = "service.instance.id"
	sdkName            = "telemetry.sdk.name"
	sdkLanguage        = "telemetry.sdk.language"
	sdkVersion         = "telemetry.sdk.version"
)

// Keys of the attributes with texts, which only the mode Content sends. Their values are JSON as the conventions define it.
const (
	inputMessages      = "gen_ai.input.messages"
	outputMessages     = "gen_ai.output.messages"
	systemInstructions = "gen_ai.system_instructions"
	toolDefinitions    = "gen_ai.tool.definitions"
	callArguments      = "gen_ai.tool.call.arguments"
	callResult         = "gen_ai.tool.call.result"
)
