package import ControlAPI

/// What the control interface shows and does. The daemon implements it; a test implements it in memory.
///
/// Calls come from any task, several at once. An error that is a ``ControlError`` is the client's to correct and is shown
/// with its status; any other is answered with 500 and its description, and logged. Whether a peer may do what it asks for
/// is for the backend to decide: ``ControlError/forbidden(reason:hint:)``.
package protocol ControlBackend: Sendable {
  /// How the daemon is now.
  func status() async throws -> Status
  /// How it fares; what the server knows itself it fills in.
  func stats() async throws -> Stats
  /// What was done in the last hours, as far as this daemon did it. It waits for nothing.
  func history(_ query: HistorySpanQuery) async -> History
  /// How full the file systems are that are written to.
  func disks() async throws -> DiskList
  /// The daemons that work on the queue.
  func daemons() async throws -> DaemonList
  /// Whether other daemons may work on the queue, too.
  var sharesQueue: Bool { get }
  /// What is measured, but for what the server knows itself. It waits neither for a store nor for work.
  func metrics() async throws -> [MetricFamily]
  /// Whether everything that a job passes answers; it waits some seconds for that.
  func health() async -> Health
  /// Whether work is taken in.
  func readiness() async -> Health
  /// What the layers of the configuration say now.
  /// - Throws: ``ControlError/badConfiguration(_:)``.
  func configurationSettings() async throws -> ConfigurationSettings
  /// Checks the configuration files.
  func checkConfiguration() async throws -> ConfigurationCheck
  /// Applies a changed configuration as a whole or not at all.
  /// - Throws: ``ControlError/badConfiguration(_:)``.
  func reload(by peer: Peer) async throws -> Reload
  /// Whether the peer may do what only operators may. It decides what is offered; whether something may be done is decided again
  /// when it is asked for.
  func isOperator(_ peer: Peer) -> Bool
  /// A link to the pages, by which a browser acts as the peer.
  /// - Throws: ``ControlError/conflict(reason:hint:)`` where no pages are served.
  func webLink(for peer: Peer) async throws -> WebLink
  /// The last lines of the log that match, oldest first, and no more than the query's limit.
  func log(_ query: LogQuery) -> [LogLine]
  /// Every line that is logged from this call on, until the iterating task ends. It is read without delay.
  func logLines() -> AsyncStream<LogLine>

  /// Jobs, in the query's order, without their transitions.
  func jobs(_ query: JobQuery) async throws -> JobList
  /// One job with its transitions.
  /// - Throws: ``ControlError/noSuchJob(_:)``.
  func job(_ id: Int64) async throws -> Job
  /// As ``job(_:)``; of a job that has ended, once its file is put away.
  func settledJob(_ id: Int64) async throws -> Job
  /// Why a job rejected records; of one that goes on, so far.
  /// - Throws: ``ControlError/noSuchJob(_:)``.
  func rejects(_ id: Int64) async throws -> RejectReport
  /// One rejected record of a job that has ended.
  /// - Throws: ``ControlError/noSuchReject(_:of:)``.
  func reject(_ number: Int64, of id: Int64) async throws -> Reject
  /// All records that a job which has ended rejected, as one file. Reading it throws a conflict, too, once the job is tried again.
  /// - Throws: ``ControlError/conflict(reason:hint:)`` where there are none, or the job hasn't ended.
  func rejectFile(_ id: Int64) async throws -> RejectFileContent
  /// Rejected records that no retry has resolved, all of one attempt.
  /// - Throws: ``ControlError/conflict(reason:hint:)`` where the query names another attempt than the last.
  func openRejects(_ id: Int64, _ query: RejectQuery) async throws -> RejectPage
  /// Says what would be rejected again, without writing.
  func checkRejects(_ id: Int64, _ request: RejectRetryRequest, by peer: Peer) async throws -> RejectCheck
  /// Makes a job, durably, that imports rejected records again.
  /// - Throws: ``ControlError/conflict(reason:hint:)`` while another retry of them goes on.
  func retryRejects(_ id: Int64, _ request: RejectRetryRequest, by peer: Peer) async throws -> Job
  /// Makes a job, durably, before it returns. Whether the peer may read the source is for the backend to decide.
  func submit(_ submission: JobSubmission, by peer: Peer) async throws -> Job
  /// Makes a job as ``submit(_:by:)-(JobSubmission,Peer)`` does, where that takes nothing but the queue's transaction. It must not block.
  /// - Parameter reply: called once, on any thread, when the job is durable or couldn't be made.
  /// - Returns: false where the submission isn't of that sort or has a mistake: nothing was done then, and `reply` isn't
  ///   called.
  func submitAtOnce(
    _ submission: JobSubmission, by peer: Peer, reply: @escaping @Sendable (Result<Job, any Error>) -> Void
  ) -> Bool
  /// Makes many jobs, durably, before it returns: each that can be made, and of each other what keeps it. The answers are
  /// in the order of the submissions. What it throws is about all of them: then there is none.
  func submit(_ submissions: [JobSubmission], by peer: Peer) async throws -> [JobReceipt]
  /// The files that the peer has sent in parts and not submitted or removed yet, the oldest first.
  func uploads(by peer: Peer) async throws -> [Upload]
  /// Begins to take a file in, or goes on with the same one that was broken off. A job takes it whose source is
  /// ``Upload/source``; it is removed when the job has a copy, and submitting it again finds that job.
  /// - Parameter modified: the file's modification time by the peer's clock, not negative. It distinguishes files of the same
  ///   name and size.
  func beginUpload(_ name: String, size: Int64, modified: Int64, by peer: Peer) async throws -> Upload
  /// Takes the next bytes of a file.
  /// - Parameter offset: how many have arrived before them.
  /// - Throws: ``ControlError/conflict(reason:hint:)`` where it is another number; ``ControlError/noSuchUpload(_:)``, as the
  ///   others here.
  func append(_ bytes: [UInt8], at offset: Int64, toUpload id: Int64, by peer: Peer) async throws -> Upload
  /// The first bytes of a file, up to `limit`.
  func beginning(ofUpload id: Int64, atMost limit: Int, by peer: Peer) async throws -> [UInt8]
  /// Removes a file that isn't wanted any more.
  func removeUpload(_ id: Int64, by peer: Peer) async throws
  /// Cancels a job, or asks the one that runs to stop.
  func cancel(_ id: Int64, by peer: Peer) async throws -> Job
  /// Tries a job again that failed, was cancelled, or waits for its next attempt.
  func retry(_ id: Int64, by peer: Peer) async throws -> Job
  /// Holds a job back until it is released.
  func hold(_ id: Int64, by peer: Peer) async throws -> Job
  /// Lets a job that was held go on.
  func release(_ id: Int64, by peer: Peer) async throws -> Job
  /// Lets a job that hasn't begun run earlier or later than others of its lane.
  func setPriority(_ id: Int64, to priority: Int, by peer: Peer) async throws -> Job
  /// Removes a job that has ended.
  func remove(_ id: Int64, by peer: Peer) async throws -> Job
  /// Makes a job, durably, that changes all jobs that a filter finds and the peer may change. ``Job/change`` says what has
  /// become of them.
  func change(_ change: JobChange, by peer: Peer) async throws -> Job
  /// Makes a group of jobs, durably, all of them or none.
  func submit(_ batch: BatchSubmission, by peer: Peer) async throws -> Batch
  /// Batches, the newest first.
  func batches(_ query: BatchQuery) async throws -> BatchList
  /// - Throws: ``ControlError/noSuchBatch(_:)``.
  func batch(_ id: Int64) async throws -> Batch
  /// Every change of every job from this call on, until the iterating task ends. It is read without delay, so the
  /// stream may buffer without a limit.
  func jobEvents() -> AsyncStream<Job>

  func lanes() async throws -> [Lane]
  /// Lets no job of a lane begin.
  /// - Throws: ``ControlError/noSuchLane(_:known:)``; so do the others here.
  func pause(lane: String, by peer: Peer) async throws -> Lane
  /// Lets jobs of a paused lane begin again.
  func resume(lane: String, by peer: Peer) async throws -> Lane
  /// Changes how many jobs of a lane run at once; nil for what the configuration says.
  func setConcurrency(of lane: String, to number: Int?, by peer: Peer) async throws -> Lane

  /// The schedules of the configuration, in its order.
  func schedules() async throws -> [Schedule]
  /// Makes a job of a schedule now, unless the one before hasn't ended.
  /// - Throws: ``ControlError/noSuchSchedule(_:known:)``.
  func run(schedule: String, by peer: Peer) async throws -> Job
  /// Leaves out what passes of a schedule's calendar from now on.
  /// - Throws: ``ControlError/noSuchSchedule(_:known:)``. So does resuming it.
  func pause(schedule: String, by peer: Peer) async throws -> Schedule
  func resume(schedule: String, by peer: Peer) async throws -> Schedule

  /// The recipes of the configuration.
  func recipes() -> [Recipe]
  /// What the configuration says of a recipe. Blocks no queue that work waits for.
  /// - Throws: ``ControlError/noSuchRecipe(_:known:)``, ``ControlError/badConfiguration(_:)``.
  func recipe(_ name: String) async throws -> RecipeDefinition
  /// Whether the configuration lets recipes be saved.
  var savesRecipes: Bool { get }
  /// Saves a recipe, in place of one that was saved before under its name, and has the configuration read again with it: all
  /// of it or nothing.
  /// - Throws: ``ControlError/conflict(reason:hint:)`` where the name is another recipe's or recipes aren't saved;
  ///   ``ControlError/badConfiguration(_:)``.
  func save(_ draft: RecipeDraft, as name: String, by peer: Peer) async throws -> Reload
  /// Removes a recipe that was saved.
  /// - Throws: as ``save(_:as:by:)``; ``ControlError/noSuchRecipe(_:known:)``.
  func removeRecipe(_ name: String, by peer: Peer) async throws -> Reload
  /// The columns of a file, and what they may become.
  func columns(_ request: ModelDiffRequest, by peer: Peer) async throws -> FileColumns
  /// Tries a file without making a job.
  func test(_ test: RecipeTest, by peer: Peer) async throws -> RecipeTestResult
  /// Compares a file with the model that it would be imported into.
  func diff(_ diff: ModelDiffRequest, by peer: Peer) async throws -> ModelDiff
  /// Imports the files of a recipe again that are kept, or says which they are. Jobs are made durably, all of them or none,
  /// before it returns; a replay of the recipe that hasn't ended is the answer in place of a second one.
  func replay(_ request: ReplayRequest, of recipe: String, by peer: Peer) async throws -> ReplayResult
  /// How far a recipe has read its database.
  /// - Throws: ``ControlError/noSuchRecipe(_:known:)``.
  func cursor(of recipe: String) async throws -> CursorStatus
  /// Has a recipe read on from another value, or from the beginning, unless a job of it hasn't ended.
  /// - Throws: ``ControlError/noSuchRecipe(_:known:)``, ``ControlError/conflict(reason:hint:)``.
  func setCursor(of recipe: String, to change: CursorChange, by peer: Peer) async throws -> CursorStatus
  /// The data stores.
  func stores(_ query: StoreCountQuery) async throws -> [Store]
  /// One data store.
  /// - Throws: ``ControlError/noSuchStore(_:known:)``.
  func store(_ name: String, _ query: StoreCountQuery) async throws -> Store
  /// The versions of a store's model, and what differs between two of them.
  /// - Throws: ``ControlError/noSuchStore(_:known:)``, ``ControlError/invalid(field:reason:hint:)`` for a version that isn't there.
  func modelVersions(of store: String, _ query: ModelVersionQuery) async throws -> ModelVersions
  /// The backups of a store.
  /// - Throws: ``ControlError/noSuchStore(_:known:)``.
  func backups(of store: String) async throws -> BackupList
  /// A page of objects. Regular expressions are for operators. It ends when the task is cancelled, when the daemon stops, and
  /// after the peer's time; so do the others that read stores.
  /// - Throws: ``ControlError/forbidden(reason:hint:)``, ``ControlError/timeLimit(_:key:)``.
  func objects(_ query: ObjectQuery, by peer: Peer) async throws -> ObjectPage
  /// How many objects match; limit, offset, sort and columns don't matter.
  func count(_ query: ObjectQuery, by peer: Peer) async throws -> Int
  /// How many objects match, by one of their values.
  func groups(_ query: GroupQuery, by peer: Peer) async throws -> ObjectGroups
  /// One object with what can be changed of it, and why not.
  /// - Parameter number: nil for a new object, with the model's defaults.
  /// - Throws: ``ControlError/noSuchObject(_:of:store:)``; so does the other here.
  func editable(_ number: Int64?, of entity: String, in store: String?, by peer: Peer) async throws -> EditableObject
  /// Says what an edit would do, and why it would be refused, without writing. A job of kind `edit` does it.
  func check(_ edit: ObjectEdit, of entity: String, by peer: Peer) async throws -> EditCheck
  /// Which jobs and records objects come from, as far as that was recorded.
  func origins(_ query: OriginQuery, by peer: Peer) async throws -> RowOrigins
  /// A standing query: its result, then each change, until the iterating task ends; what ends it otherwise is its last
  /// event. It is read without delay.
  func watch(_ query: WatchQuery, by peer: Peer) async throws -> AsyncStream<WatchEvent>
}
