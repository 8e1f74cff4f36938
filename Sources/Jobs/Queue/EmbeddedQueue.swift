public import Foundation
import Glibc
import Importing
public import Logging
public import ManagedObjects
import Synchronization

/// A queue of jobs in your own program: the daemon's queue without its spool and its socket. Safe from any thread.
///
/// It knows the operations of ``OperationCatalogue/standard`` and those that the program adds. Jobs are kept in the queue's own
/// store and outlive the program: a job that ran when the program was killed runs again after the next start, and waiting
/// jobs wait on.
///
/// ```swift
/// let data = PersistentStoreCoordinator(model: try ImportModel.adding(to: companyModel))
/// try data.addPersistentStore(.sqlite(at: folder.appendingPathComponent("company.sqlite")))
/// var operations = OperationCatalogue.standard
/// operations.add("move", MoveOperation.self)
/// let queue = try EmbeddedQueue(
///   store: .sqlite(at: folder.appendingPathComponent("queue.sqlite"), options: .init(durability: .everySave)),
///   dataStores: ["main": data], operations: operations, directory: folder)
/// try await queue.start()
///
/// var options = FileImport.Options()
/// options.reading = ["delimiter": ";"]
/// let people = try await queue.submit("import", store: "main", entity: "Person", source: csv, options: options)
/// let move = try await queue.submit(
///   "move", store: "main", options: ["to": "Ockham"], after: [JobDependency(job: people.id)])
/// print(try await queue.end(of: move.id).state)
/// ```
///
/// `import`, `prune` and `update` need a data store whose model has been made by `ImportModel.adding(to:)`, of the library
/// `Importing`.
///
/// The main queue must run (`dispatchMain()`, an async `main`), because a context there follows what the queue saves. Its errors
/// have readable descriptions.
public final class EmbeddedQueue: Sendable {
  private let coordinator: PersistentStoreCoordinator
  private let queue: JobQueue
  private let operations: OperationCatalogue
  private let environment: JobEnvironment
  /// What a job without a data store is checked against.
  private let emptyModel: ManagedObjectModel
  private let inputs: JobInputs
  /// How long former values are kept, for jobs of the kind `undo`.
  private let keepsUndo: Duration
  /// The queue refers to it weakly.
  private let delegate: JobRemains

  /// A queue that doesn't run jobs before ``start()``.
  /// - Parameters:
  ///   - store: where jobs are kept. To survive a loss of power it needs the durability of every save.
  ///   - dataStores: the stores that operations work on, by the names that jobs use.
  ///   - operations: which operation does which kind of job.
  ///   - lanes: how many jobs of each lane run at a time.
  ///   - directory: a folder of the program's, for the files of operations: inputs in `active`, `rejects`, `exports`. Made
  ///     if it isn't there. No other queue may use it.
  ///   - keepsUndo: how long the former values of rows are kept where it is recorded which jobs change them, so that a job of
  ///     the kind `undo` can take these back; with 0 none are. ``start()`` removes older ones.
  /// - Throws: the store's error, or what is wrong with the lanes.
  public init(
    store: PersistentStoreDescription, dataStores: [String: PersistentStoreCoordinator],
    operations: OperationCatalogue = .standard, lanes: [String: Int] = ["import": 1, "maintenance": 1],
    directory: URL, keepsUndo: Duration = .seconds(7 * 86_400), logger: Logger = Logger(label: "jobs")
  ) throws {
    coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    let identifier = try coordinator.addPersistentStore(store).identifier
    let active = directory.appendingPathComponent("active")
    let rejects = directory.appendingPathComponent("rejects")
    for folder in [active, rejects] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    var environment = JobEnvironment(
      dataStores: dataStores, activeDirectory: active, rejectsDirectory: rejects,
      exportsDirectory: directory.appendingPathComponent("exports"), queueIdentifier: identifier, logger: logger)
    environment.keepsBeforeImages = { keepsUndo > .zero }
    self.environment = environment
    self.keepsUndo = keepsUndo
    emptyModel = try ManagedObjectModel(entities: [])
    inputs = JobInputs(folder: active)
    delegate = JobRemains(dataStores: dataStores, queueIdentifier: identifier, inputs: inputs)
    self.operations = operations
    queue = try JobQueue(
      coordinator: coordinator, lanes: lanes.map { LaneConfiguration(name: $0.key, concurrency: $0.value) },
      operations: operations, environment: environment, logger: logger)
    queue.delegate = delegate
  }

  /// Rescues the jobs that an earlier process left running, and begins to run jobs.
  public func start() async throws {
    try await removeStrayInputs()
    try await removeFormerValues()
    try await queue.start()
  }

  /// Removes the former values of rows that aren't kept any more.
  private func removeFormerValues() async throws {
    let time = Date(timeIntervalSinceNow: -(keepsUndo / .seconds(1)))
    for coordinator in environment.dataStores.values {
      try await inputs.result { _ = try BeforeImageRetention.prune(before: time, in: coordinator) }
    }
  }

  // MARK: Submitting

  /// Takes a job in. It is in the queue's store when this returns.
  /// - Parameters:
  ///   - kind: one of the catalogue's.
  ///   - store: the data store that it works on, by its name.
  ///   - entity: the entity that it works on; for an import of an archive, `*` lets each file go into the entity that it
  ///     belongs to.
  ///   - source: the file that it works on, as an import does. It is copied into the queue's folder before this returns, and
  ///     the copy is removed when the job has ended.
  ///   - options: the operation's own options, which must encode to a JSON object; of an import `FileImport.Options`. See
  ///     ``Job/decodeOptions(as:)``.
  ///   - lane: one of the queue's.
  ///   - priority: higher runs earlier.
  ///   - tags: words to find it by, without `|`.
  ///   - notBefore: it doesn't run earlier.
  ///   - deadline: if it hasn't begun by then, it is cancelled; if it runs, it is stopped, and has failed.
  ///   - timeout: how long an attempt may take. One that takes longer is stopped, and has failed.
  ///   - after: jobs that it waits for.
  ///   - batch: a batch that it joins, some of whose jobs haven't ended; see ``submitBatch(_:named:callback:)``.
  ///   - uniqueKey: of the jobs with one key only one is in the queue at a time: a second submission answers with that one.
  ///   - maxAttempts: how often it is tried in all.
  ///   - who: who hands it in.
  /// - Throws: ``JobFailure`` when its operation refuses it, or an error that says what is wrong with it.
  public func submit<Options: Encodable>(
    _ kind: String, store: String? = nil, entity: String? = nil, source: URL? = nil,
    options: Options = [String: String](), lane: String = "maintenance", priority: Int = 0, tags: [String] = [],
    notBefore: Date? = nil, deadline: Date? = nil, timeout: Duration? = nil, after: [JobDependency] = [],
    batch: Int64? = nil, uniqueKey: String? = nil, maxAttempts: Int = 5, by who: String = "program"
  ) async throws -> Job {
    try await submit(
      JobSubmission(
        kind, store: store, entity: entity, source: source, options: options, lane: lane, priority: priority,
        tags: tags, notBefore: notBefore, deadline: deadline, timeout: timeout, after: after, batch: batch,
        uniqueKey: uniqueKey, maxAttempts: maxAttempts, by: who))
  }

  /// Takes a job in, as ``submit(_:store:entity:source:options:lane:priority:tags:notBefore:deadline:timeout:after:batch:uniqueKey:maxAttempts:by:)``
  /// does.
  public func submit(_ submission: JobSubmission) async throws -> Job {
    let ready = try await prepared(submission)
    do {
      let job = try await queue.submit(ready)
      // With a unique key it may be a job that has a file of its own.
      if ready.activeName != job.activeName { await discardInputs(of: [ready]) }
      return shown(job)
    } catch {
      await discardInputs(of: [ready])
      throw error
    }
  }

  /// Takes jobs in as a batch, all or none.
  /// - Parameters:
  ///   - jobs: its jobs, without unique keys. Others join it later by their `batch`.
  ///   - name: for people.
  ///   - callback: a job that runs when all of them have succeeded. If some failed, it waits until they have been tried again
  ///     and have succeeded.
  /// - Returns: the batch, with the numbers of its jobs in their order.
  /// - Throws: as `submit` does.
  public func submitBatch(
    _ jobs: [JobSubmission], named name: String? = nil, callback: JobSubmission? = nil
  ) async throws -> Batch {
    var ready: [JobSubmission] = []
    do {
      for job in jobs + [callback].compactMap({ $0 }) { ready.append(try await prepared(job)) }
      let members = ready.prefix(jobs.count).map { BatchSubmission.Member($0) }
      return try await queue.submit(
        batch: BatchSubmission(
          name: name, jobs: Array(members), callback: callback == nil ? nil : ready.last,
          submittedBy: jobs.first?.submittedBy ?? ""))
    } catch {
      await discardInputs(of: ready)
      throw error
    }
  }

  /// Removes copies that no job was made for. One that can't be removed is removed by the next ``start()``.
  private func discardInputs(of submissions: [JobSubmission]) async {
    for name in submissions.compactMap(\.activeName) {
      do {
        try await inputs.remove(name)
      } catch {
        environment.logger.warning("the copy of a file that no job needs can't be removed: \(error)")
      }
    }
  }

  /// A batch as it stands.
  public func batch(_ id: Int64) async throws -> Batch { try await queue.batch(id) }

  /// Checks a submission as its operation does, and copies its file.
  private func prepared(_ submission: JobSubmission) async throws -> JobSubmission {
    var model = emptyModel
    if let name = submission.store {
      guard let store = environment.dataStores[name] else {
        let known = environment.dataStores.keys.sorted().joined(separator: ", ")
        throw JobQueueError.invalidSubmission("there is no store \(name); there are \(known)")
      }
      model = store.model
    }
    try queue.check(submission)
    try operations.check(submission, in: model)
    var ready = submission
    if submission.kind == ImportOperation.kind {
      let options = try ImportOptions.read(submission)
      (ready.mode, ready.format) = (options.mode, options.reader.format?.rawValue)
    }
    guard let path = submission.source else { return ready }
    ready.source = URL(fileURLWithPath: path).lastPathComponent
    ready.activeName = try await inputs.copy(path)
    return ready
  }

  // MARK: Jobs

  /// A job as it stands; one that runs, with how far it is.
  public func job(_ id: Int64) async throws -> Job { shown(try await queue.job(id, withTransitions: true)) }

  /// Waits until a job has ended: `completed`, `cancelled` or `discarded`.
  public func end(of id: Int64) async throws -> Job { shown(try await queue.whenEnded(id)) }

  /// Stops a job; one that runs stops at its next batch.
  public func cancel(_ id: Int64, by who: String = "program") async throws -> Job {
    shown(try await queue.cancel(id, by: who))
  }

  /// Every transition of jobs, and all progress, from now on; ends when the queue has been stopped. The jobs don't have the
  /// path of their rejects, which ``job(_:)`` and ``end(of:)`` tell.
  public func events() -> AsyncStream<Job> { queue.events() }

  /// Stops running jobs at their next batch, to continue after the next start, and closes the queue's store.
  /// - Returns: the jobs that still ran when the time was over. The store stays open then, and while the input of a job that
  ///   has ended is still being removed.
  public func stop(timeout: Duration = .seconds(30)) async throws -> [Job] {
    let left = await queue.drain(timeout: timeout)
    if queue.isQuiet { try coordinator.close() }
    return left
  }

  /// A job with the path of its rejects.
  private func shown(_ job: Job) -> Job {
    var shown = job
    shown.rejectsFile = job.progress.rejectsFile.map { environment.rejectsDirectory.appendingPathComponent($0).path }
    return shown
  }

  /// Removes inputs that no job needs any more: a process was killed when it had copied one, or when its job had ended.
  private func removeStrayInputs() async throws {
    var stray = try await inputs.names()
    if stray.isEmpty { return }
    var filter = JobFilter(states: Set(JobState.allCases.filter { !$0.isEnded }), newestFirst: true, limit: 1000)
    while true {
      let jobs = try await queue.jobs(filter)
      stray.subtract(jobs.compactMap(\.activeName))
      guard let last = jobs.last else { break }
      filter.before = last.id
    }
    for name in stray { try await inputs.remove(name) }
  }
}

extension JobSubmission {
  /// A job for an ``EmbeddedQueue``. The parameters are those of its `submit`.
  /// - Throws: an error when the options don't encode to a JSON object.
  public init<Options: Encodable>(
    _ kind: String, store: String? = nil, entity: String? = nil, source: URL? = nil,
    options: Options = [String: String](), lane: String = "maintenance", priority: Int = 0, tags: [String] = [],
    notBefore: Date? = nil, deadline: Date? = nil, timeout: Duration? = nil, after: [JobDependency] = [],
    batch: Int64? = nil, uniqueKey: String? = nil, maxAttempts: Int = 5, by who: String = "program"
  ) throws {
    self.init(
      kind: kind, source: source?.path, store: store, entity: entity, lane: lane, priority: priority, tags: tags,
      notBefore: notBefore, deadline: deadline, timeout: timeout.map { $0 / .seconds(1) }, after: after,
      uniqueKey: uniqueKey, batch: batch, maxAttempts: maxAttempts, submittedBy: who)
    let json = String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
    guard json.hasPrefix("{") else {
      throw JobQueueError.invalidSubmission(
        "its options are \(json.prefix(100)), and have to be a JSON object: pass a dictionary or a struct")
    }
    resolvedOptions = json
  }
}

/// The files of an ``EmbeddedQueue``'s jobs, in a folder of the queue's own.
private final class JobInputs: Sendable {
  private let folder: URL
  /// Files are copied there, one after the other.
  private let copying = DispatchQueue(label: "jobs.inputs")
  /// The copies of this process, which aren't stray even while their jobs aren't in the store yet.
  private let own = Mutex<Set<String>>([])

  init(folder: URL) { self.folder = folder }

  /// Copies a file. It is there for good when this returns.
  /// - Returns: the name of the copy.
  func copy(_ path: String) async throws -> String {
    try await result { [self] in
      let name = UUID().uuidString
      // A pipe would keep the queue waiting for somebody who writes into it.
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { throw JobFailure(errno: errno, path) }
      let source = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw JobFailure(code: "no_source", message: "\(path): it isn't a file", isRetryable: false)
      }
      let copy = try AtomicFile(folder: folder.path, name: name, hiddenName: ".\(name).part")
      while let bytes = try source.read(upToCount: 1 << 20), !bytes.isEmpty {
        try bytes.withUnsafeBytes { try copy.write($0) }
      }
      try copy.commit()
      own.withLock { _ = $0.insert(name) }
      return name
    }
  }

  /// Removes a copy, if it is there.
  func remove(_ name: String) async throws {
    try await result { [self] in
      own.withLock { _ = $0.remove(name) }
      let file = folder.appendingPathComponent(name)
      if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
    }
  }

  /// The names of the copies that earlier processes left, and of unfinished ones.
  func names() async throws -> Set<String> {
    try await result { [self] in
      Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)).subtracting(own.withLock { $0 })
    }
  }

  func result<Value: Sendable>(of body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      copying.async { continuation.resume(with: Result { try body() }) }
    }
  }
}

/// Removes what a job keeps in its data store, and its input, once the queue knows of its end.
private final class JobRemains: JobQueueDelegate {
  private let dataStores: [String: PersistentStoreCoordinator]
  private let queueIdentifier: String
  private let inputs: JobInputs

  init(dataStores: [String: PersistentStoreCoordinator], queueIdentifier: String, inputs: JobInputs) {
    self.dataStores = dataStores
    self.queueIdentifier = queueIdentifier
    self.inputs = inputs
  }

  func jobQueue(_ queue: JobQueue, didEnd job: Job) async throws {
    if let name = job.activeName { try await inputs.remove(name) }
    guard JobCheckpoint.isKept(by: job.kind), let data = dataStores[job.store ?? ""] else { return }
    try JobCheckpoint.forget(job.id, claim: job.claim, queue: queueIdentifier, in: data)
  }
}
