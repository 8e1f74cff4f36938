import ControlServer
import Jobs
import Logging

extension DaemonConfiguration {
  enum Key: String, CaseIterable {
    case stores, lanes, recipes, keep, spool, state, socket, operators, exports
    case intake, schedules, retry, metrics, web, queries, queue
    case allowedFolders = "allowed_folders"
    case saveRecipes = "save_recipes"
    case logLevel = "log_level"
    case drainTimeout = "drain_timeout"
    case rescanInterval = "rescan_interval"
    case timeZone = "time_zone"
  }

  /// How often a folder of several hosts is scanned: the kernel reports nothing of what others do there.
  private static let sharedScanInterval = Duration.seconds(5)

  /// Reads a configuration, all its layers: see ``ConfigurationLayers``. Every key is known, every value checked. Relative
  /// paths begin in the folder of the file, those of variables in the working directory. Blocks. Throws everything that is
  /// wrong at once; whether stores, models and folders can be opened is found out by who opens them.
  /// - Parameter environment: the variables, and where credentials are. Nothing of the process's own is read.
  package static func load(
    path: String, environment: [String: String] = [:]
  ) throws(ConfigurationProblems) -> DaemonConfiguration {
    try LoadedConfiguration(path: path, environment: environment).configuration
  }

  /// - Parameter savedRecipes: the names of saved recipes, of those too that can't be read.
  mutating func read(_ root: YAMLValue, in folder: ConfigurationFolder, savedRecipes: some Collection<String> = []) {
    guard let section = YAMLSection<Key>(root) else { return }
    var paths = DistinctPaths()
    spool = section[.spool]?.path(in: folder) ?? spool
    paths.add(spool, key: "spool", section[.spool])
    state = section[.state]?.path(in: folder) ?? state
    paths.add(state, key: "state", section[.state])
    if let value = section[.queue] {
      queue = QueueConfiguration(value, in: folder)
      if let incoming = queue?.incoming {
        paths.add(incoming, key: "queue.incoming", value)
        rescanInterval = Self.sharedScanInterval
      }
      if let place = queue?.place { paths.add("\(place.connection) \(place.schema)", key: "queue.schema", value) }
    } else {
      paths.add(queueStore, key: "state (its queue.sqlite)", section[.state])
    }
    exports = section[.exports]?.path(in: folder) ?? state + "/exports"
    paths.add(exports, key: "exports", section[.exports])
    socket = section[.socket]?.socketPath(in: folder) ?? socket
    paths.add(socket, key: "socket", section[.socket])
    metrics = section[.metrics].flatMap(MetricsConfiguration.init) ?? metrics
    web = section[.web].flatMap { WebConfiguration($0, in: folder) } ?? web
    if let socket = web.socket { paths.add(socket, key: "web.socket", section[.web]) }
    allowedFolders = section[.allowedFolders]?.folders(in: folder) ?? allowedFolders
    operators = section[.operators]?.users() ?? operators
    logLevel = section[.logLevel]?.word(of: Logger.Level.self) ?? logLevel
    drainTimeout = section[.drainTimeout]?.duration(.zero ... .seconds(86_400)) ?? drainTimeout
    rescanInterval = section[.rescanInterval]?.duration(.seconds(1) ... .seconds(86_400)) ?? rescanInterval
    keep = section[.keep].flatMap(KeepConfiguration.init) ?? keep
    retry = section[.retry].flatMap(RetryConfiguration.init) ?? retry
    queries = section[.queries].flatMap(QueryConfiguration.init) ?? queries
    savesRecipes = section[.saveRecipes]?.flag() ?? savesRecipes
    intake = section[.intake].flatMap(IntakeConfiguration.init) ?? intake

    var names = RecipeConfiguration.Names()
    names.takesSharedEntries = queue?.incoming != nil
    let example = "where rows go, such as `main: {path: main.sqlite, model: Main.xcdatamodeld}`"
    if let value = section.required(.stores, example),
      let entries = value.entries(of: "a mapping of names to stores")
    {
      if entries.isEmpty { value.wrongType("a mapping with at least one store in it") }
      names.stores = entries.map(\.name)
      for entry in entries {
        if let store = StoreConfiguration(entry, in: folder, &paths) { stores.append(store) }
      }
    }
    names.lanes = readLanes(section[.lanes])
    timeZone = section[.timeZone]?.timeZone() ?? timeZone
    let recipeEntries = section[.recipes]?.entries(of: "a mapping of names to recipes") ?? []
    for entry in recipeEntries {
      if let recipe = RecipeConfiguration(entry, names: names, timeZone: timeZone) { recipes.append(recipe) }
    }
    let surroundings = ScheduleConfiguration.Surroundings(
      names: names, recipes: recipeEntries.map(\.name) + savedRecipes,
      databaseRecipes: Set(recipes.filter { $0.options.from != nil }.map(\.name)), folder: folder,
      allowedFolders: allowedFolders, timeZone: timeZone)
    for entry in section[.schedules]?.entries(of: "a mapping of names to schedules") ?? [] {
      if let schedule = ScheduleConfiguration(entry, in: surroundings) { schedules.append(schedule) }
    }
  }

  /// The names of all lanes, of those too that something is wrong with; nil if they can't be known.
  private mutating func readLanes(_ value: YAMLValue?) -> [String]? {
    guard let value else { return lanes.map(\.name) }
    guard let entries = value.entries(of: "a mapping of names to lanes") else { return nil }
    let given = entries.compactMap(LaneConfiguration.init)
    lanes.removeAll { lane in given.contains { $0.name == lane.name } }
    lanes += given
    return entries.map(\.name) + lanes.map(\.name).filter { name in !entries.contains { $0.name == name } }
  }
}

extension YAMLValue {
  /// The path of a Unix socket.
  func socketPath(in folder: ConfigurationFolder) -> String? {
    guard let path = path(in: folder) else { return nil }
    let limit = ControlSocket.longestPath
    guard path.utf8.count <= limit else {
      wrong("the socket's path can have at most \(limit) bytes, and “\(path)” has \(path.utf8.count)")
      return nil
    }
    return path
  }

  fileprivate func timeZone() -> CalendarZone? {
    guard let name = text() else { return nil }
    do throws(CalendarZoneError) {
      return try CalendarZone(named: name)
    } catch {
      wrong(error.description)
      return nil
    }
  }

  /// Names of users of this system.
  fileprivate func users() -> [String]? {
    guard let elements = elements(of: "users' names") else { return nil }
    return elements.compactMap { element in
      guard let name = element.text() else { return nil }
      if SystemUser.number(of: name) == nil { element.wrong("there is no user of that name on this system") }
      return name
    }
  }

  fileprivate func folders(in folder: ConfigurationFolder) -> [String]? {
    guard let elements = elements(of: "folders") else { return nil }
    var seen = Set<String>()
    return elements.compactMap { element in
      guard let path = element.path(in: folder) else { return nil }
      if !seen.insert(path).inserted { element.wrong("the folder is in the list twice") }
      return path
    }
  }
}

/// Paths that must differ from each other.
struct DistinctPaths {
  private var keys: [String: (key: String, value: YAMLValue?)] = [:]

  /// Reports a path that another key has already. `value` is nil for a default.
  mutating func add(_ path: String, key: String, _ value: YAMLValue?) {
    if let other = keys[path], let place = value ?? other.value {
      let second = value == nil ? other.key : key
      let first = value == nil ? key : other.key
      place.report(.conflict(key: second, problem: "“\(path)” is that of `\(first)`, too"))
    }
    if keys[path] == nil { keys[path] = (key, value) }
  }
}
