import ControlAPI

extension ControlClient {
  func status() async throws -> Status { try await send(.GET, .status) }

  func stats() async throws -> Stats { try await send(.GET, .stats) }

  func checkConfiguration() async throws -> ConfigurationCheck { try await send(.GET, .checkConfiguration) }

  func configurationSettings() async throws -> ConfigurationSettings { try await send(.GET, .configuration) }

  func run(schedule: String) async throws -> Job { try await send(.POST, .runSchedule(schedule)) }

  func reload() async throws -> Reload { try await send(.POST, .reload) }

  func recipes() async throws -> RecipeList { try await send(.GET, .recipes) }

  func schedules() async throws -> ScheduleList { try await send(.GET, .schedules) }

  func test(_ test: RecipeTest) async throws -> RecipeTestResult {
    try await send(.POST, .testRecipe, body: try WireFormat.encode(test))
  }

  func log(_ query: LogQuery) async throws -> LogPage { try await send(.GET, .log, query.queryString) }

  /// Follows the log until the stream ends or `each` returns `false`.
  func followLog(_ query: LogQuery, each: @Sendable (LogEvent) async throws -> Bool) async throws {
    var query = query
    query.follows = true
    try await events(.log, query.queryString, read: { try LogEvent($0) }, each: each)
  }
}
