package import Importing
package import Jobs
package import Logging

/// A daemon's configuration, checked: see `load(path:)`.
///
/// Paths are absolute and without `.` and `..`. Stores, lanes and recipes stand in the order of the file, and their
/// names are made of letters, digits, `_` and `-`.
package struct DaemonConfiguration: Sendable, Equatable {
  /// The spool's root.
  package var spool = "/var/spool/lade"
  /// Where the daemon keeps what is its own: the queue store, the reject files and, unless they have a folder of
  /// their own, exports.
  package var state = "/var/lib/lade"
  /// The folder of exported files: if it isn't said, `exports` in ``state``.
  package var exports = "/var/lib/lade/exports"
  /// The path of the control socket: at most `ControlSocket.longestPath` bytes.
  package var socket = "/run/lade/control.sock"
  /// Metrics on TCP, beside the control socket.
  package var metrics = MetricsConfiguration()
  /// Pages for browsers.
  package var web = WebConfiguration()
  /// Folders, besides the spool, in which the source of a ticket may be.
  package var allowedFolders: [String] = []
  /// Users who may do what only root and the daemon's user may otherwise.
  package var operators: [String] = []
  package var logLevel = Logger.Level.info
  /// How long a daemon that is to stop waits for running jobs.
  package var drainTimeout = Duration.seconds(30)
  /// How often the spool is scanned for what no event announced.
  package var rescanInterval = Duration.seconds(60)
  /// What is taken from the spool, and when.
  package var intake = IntakeConfiguration()
  package var stores: [StoreConfiguration] = []
  /// The queue in PostgreSQL; nil for one in a file, ``queueStore``.
  package var queue: QueueConfiguration?
  /// At least the lanes `import` and `maintenance`.
  package var lanes: [LaneConfiguration] = [
    LaneConfiguration(), LaneConfiguration(name: LaneConfiguration.maintenanceName),
  ]
  package var recipes: [RecipeConfiguration] = []
  /// Saved recipes that aren't used.
  package var recipeFaults: [RecipeFault] = []
  /// Whether clients may save recipes, and those that they have saved are used.
  package var savesRecipes = false
  /// How long a job that failed waits until it is tried again.
  package var retry = RetryConfiguration()
  /// How long jobs that have ended are kept.
  package var keep = KeepConfiguration()
  /// How long queries may take.
  package var queries = QueryConfiguration()
  /// The zone of calendar expressions that name none.
  package var timeZone = CalendarZone.system()
  package var schedules: [ScheduleConfiguration] = []
  /// Where the keys of masks are; nil where they are out of reach, and the configuration is only checked.
  package var credentials: MaskCredentials? = MaskCredentials(folder: nil)

  /// The defaults: a daemon without stores.
  package init() {}
}

extension DaemonConfiguration {
  /// The queue store's file, where the queue is in one.
  package var queueStore: String { state + "/queue.sqlite" }
  /// The folder of the reject files.
  package var rejects: String { state + "/rejects" }
  /// The recipes that clients have saved.
  var savedRecipes: SavedRecipes { SavedRecipes(state: state) }
  /// The folder of files that were uploaded and not imported yet.
  package var uploads: String { state + "/uploads" }

  /// The folder of what jobs have read of databases.
  package var extracts: String { state + "/extracts" }
  /// The folder of reports of what operations found.
  package var reports: String { state + "/reports" }
  /// The folder of a store's backups.
  package func backupFolder(of store: StoreConfiguration) -> String {
    store.backups.folder ?? state + "/backups/" + store.name
  }

  package func store(named name: String) -> StoreConfiguration? { stores.first { $0.name == name } }
  package func lane(named name: String) -> LaneConfiguration? { lanes.first { $0.name == name } }
  package func recipe(named name: String) -> RecipeConfiguration? { recipes.first { $0.name == name } }
  /// Why a saved recipe isn't used; nil for one that is, and where there is none.
  package func fault(ofRecipe name: String) -> RecipeFault? { recipeFaults.first { $0.recipe == name } }
  /// The recipes whose masks hold: also those of saved recipes that aren't used.
  var maskingRecipes: [RecipeConfiguration] { recipes + recipeFaults.compactMap(\.definition) }
  /// Whether a recipe reads a database, and no file.
  package func readsDatabase(_ recipe: String?) -> Bool {
    recipe.flatMap { self.recipe(named: $0) }?.options.from != nil
  }
  /// The recipes whose files are expected.
  package var watchedRecipes: Set<String> { Set(recipes.filter { $0.expectation != nil }.map(\.name)) }
  package func schedule(named name: String) -> ScheduleConfiguration? { schedules.first { $0.name == name } }
}
