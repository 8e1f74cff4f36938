import Foundation
import Importing
import Logging
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@testable import Jobs

@Suite("A queue inside a program", .timeLimit(.minutes(20)))
struct EmbeddedQueueTests {
  /// An operation as another package writes it: a class with options that it checks.
  private final class GreetOperation: JobOperation, @unchecked Sendable {
    // Sendable: it adds nothing to its superclass.
    struct Options: Codable {
      var name: String
      var times: Int?
    }

    override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
      let options = try submission.decodeOptions(as: Options.self)
      guard model.entitiesByName["Person"] != nil, !options.name.isEmpty else {
        throw JobFailure(code: "bad_options", message: "name: it must not be empty", isRetryable: false)
      }
    }

    override func perform() throws -> JobOutcome {
      let options = try job.decodeOptions(as: Options.self)
      let context = try context()
      let person = try context.insert("Person")
      try person.setValue(.string("Hello \(options.name)"), forKey: "name")
      try context.save()
      return .completed(JobProgress(inserted: 1), note: "greeted \(options.name)")
    }
  }

  /// The same without a check.
  private final class CarelessOperation: JobOperation, @unchecked Sendable {
    // Sendable: it adds nothing to its superclass.
    override func perform() throws -> JobOutcome {
      let options = try job.decodeOptions(as: GreetOperation.Options.self)
      return .completed(JobProgress(records: Int64(options.times ?? 1)))
    }
  }

  private final class House: Sendable {
    let folder: ScratchDirectory
    let data: PersistentStoreCoordinator

    init() throws {
      folder = try ScratchDirectory()
      let person = EntityDefinition(
        "Person",
        attributes: [
          AttributeDefinition("code", .string), AttributeDefinition("name", .string),
          AttributeDefinition("age", .integer32),
        ], uniquenessConstraints: [["code"]])
      data = PersistentStoreCoordinator(model: try ImportModel.adding(to: ManagedObjectModel(entities: [person])))
      try data.addPersistentStore(.sqlite(at: folder.file("data.sqlite")))
    }

    func queue(_ add: (inout OperationCatalogue) -> Void = { _ in }) throws -> EmbeddedQueue {
      var operations = OperationCatalogue.standard
      operations.add("greet", GreetOperation.self)
      operations.add("careless", CarelessOperation.self)
      add(&operations)
      return try EmbeddedQueue(
        store: .sqlite(at: folder.file("queue.sqlite"), options: .init(durability: .everySave)),
        dataStores: ["main": data], operations: operations, directory: folder.url,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    func write(_ text: String, to name: String) throws -> URL {
      try Data(text.utf8).write(to: folder.file(name))
      return folder.file(name)
    }

    func names() throws -> [String] {
      let context = ManagedObjectContext(.confinement, coordinator: data)
      return try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
        .compactMap { $0.value(forKey: "name")?.plainText }.sorted()
    }

    var inputs: [String] {
      get throws { try FileManager.default.contentsOfDirectory(atPath: folder.file("active").path) }
    }
  }

  @Test("imports a file by the options that it is given, and keeps no copy of it")
  func imports() async throws {
    let house = try House()
    let queue = try house.queue()
    try await queue.start()
    let source = try house.write("code;Full name;age\na;Ada;36\nb;Ben;7\nc;Cy;x\n", to: "people.csv")
    var options = FileImport.Options()
    options.reading = ["delimiter": ";"]
    options.properties["name"] = PropertyRule(column: "Full name")
    options.filter = "age > 17"
    let submitted = try await queue.submit(
      "import", store: "main", entity: "Person", source: source, options: options, lane: "import", tags: ["monthly"])
    #expect(submitted.source == "people.csv" && submitted.tags == ["monthly"])
    // The program may do what it likes with its file.
    try FileManager.default.removeItem(at: source)
    let job = try await queue.end(of: submitted.id)
    #expect(job.state == .completed, "\(job.reason ?? "")")
    #expect((job.progress.inserted, job.progress.skipped, job.progress.rejected) == (1, 1, 1))
    let rejects = try String(contentsOf: URL(fileURLWithPath: try #require(job.rejectsFile)), encoding: .utf8)
    #expect(rejects.contains("c;Cy;x"))
    #expect(try house.names() == ["Ada"])
    #expect(try house.inputs.isEmpty)
    #expect(try await queue.stop().isEmpty)
  }

  @Test(
    "refuses a submission that its operation can't do anything with, and says what is wrong",
    arguments: [
      (["nam": "Max"], "there is no name, which is needed; given: nam"),
      (["name": ""], "name: it must not be empty"),
    ] as [([String: String], String)])
  func refuses(_ options: [String: String], says: String) async throws {
    let house = try House()
    let queue = try house.queue { catalogue in
      catalogue.add("hello", options: GreetOperation.Options.self) { options, _ in
        if options.name.isEmpty {
          throw JobFailure(code: "bad_options", message: "name: it must not be empty", isRetryable: false)
        }
      } perform: { _, _ in
        .completed(JobProgress())
      }
    }
    for kind in ["greet", "hello"] {
      let failure = await #expect(throws: JobFailure.self) {
        try await queue.submit(kind, store: "main", options: options)
      }
      #expect(failure?.message.contains(says) == true && failure?.code == "bad_options", "\(kind): \(failure as Any)")
    }
    #expect(try await queue.stop().isEmpty)
  }

  @Test("refuses imports without a file, without a store that there is, or with options that aren't an import's")
  func refusesImports() async throws {
    let house = try House()
    let queue = try house.queue()
    let source = try house.write("code\na\n", to: "people.csv")
    func message(_ body: () async throws -> Job) async -> String {
      do {
        return "job \(try await body().id)"
      } catch {
        return "\(error)"
      }
    }
    #expect(await message { try await queue.submit("import", store: "main", entity: "Person") }.contains("no file"))
    #expect(
      await message { try await queue.submit("import", store: "mian", entity: "Person", source: source) }
        .contains("there is no store mian; there are main"))
    #expect(
      await message { try await queue.submit("import", store: "main", entity: "Persn", source: source) }
        .contains("did you mean Person?"))
    #expect(
      await message {
        try await queue.submit("import", store: "main", entity: "Person", source: source, options: ["delimiter": ";"])
      }.contains("there is no option delimiter"))
    #expect(
      await message {
        try await queue.submit("import", store: "main", entity: "Person", source: source, options: [1, 2])
      }.contains("have to be a JSON object"))
    var options = FileImport.Options()
    options.reading = ["delimeter": ";"]
    #expect(
      await message {
        try await queue.submit("import", store: "main", entity: "Person", source: source, options: options)
      }.contains("did you mean delimiter?"))
    #expect(
      await message {
        try await queue.submit(
          "import", store: "main", entity: "Person", source: house.folder.file("nothing.csv"), lane: "import")
      }.contains("nothing.csv: No such file"))
    #expect(try house.inputs.isEmpty)
    #expect(try await queue.stop().isEmpty)
  }

  @Test("a job whose options can't be decoded fails at once, with a message for people")
  func undecodable() async throws {
    let house = try House()
    let queue = try house.queue()
    try await queue.start()
    let job = try await queue.submit("careless", store: "main", options: ["name": 3, "times": 2])
    let end = try await queue.end(of: job.id)
    #expect(end.state == .discarded && end.attempt == 1 && end.failureCode == "bad_options")
    #expect(end.reason?.contains("the job's options can't be followed: name: it must be a text") == true)
    #expect(try await queue.stop().isEmpty)
  }

  @Test("a context takes an operation one line, and an operation can be a closure")
  func operations() async throws {
    let house = try House()
    let queue = try house.queue { catalogue in
      catalogue.add("count", options: [String: String].self) { operation, _ in
        let context = try operation.context(for: "main")
        return .completed(
          JobProgress(records: Int64(try context.count(for: FetchRequest<ManagedObject>(entityName: "Person")))))
      }
    }
    try await queue.start()
    let greeting = try await queue.submit("greet", store: "main", options: GreetOperation.Options(name: "Max"))
    let count = try await queue.submit("count", after: [JobDependency(job: greeting.id)])
    #expect(try await queue.end(of: count.id).progress.records == 1)
    #expect(try await queue.end(of: greeting.id).note == "greeted Max")
    #expect(try house.names() == ["Hello Max"])
    #expect(try await queue.stop().isEmpty)
  }

  @Test("takes dependencies, deadlines, timeouts and batches")
  func conditions() async throws {
    let house = try House()
    let queue = try house.queue { catalogue in
      catalogue.add("sleep", options: [String: String].self) { operation, _ in
        while !operation.isCancelled && !operation.isDraining {}
        return operation.isCancelled ? .cancelled(JobProgress()) : .interrupted(JobProgress())
      }
    }
    try await queue.start()
    let late = try await queue.submit("sleep", deadline: Date(timeIntervalSinceNow: 0.2))
    #expect(try await queue.end(of: late.id).failureCode == "deadline")
    let slow = try await queue.submit("sleep", timeout: .milliseconds(100), maxAttempts: 1)
    #expect(try await queue.end(of: slow.id).failureCode == "timeout")

    let files = try ["a", "b"].map { try house.write("code,name\n\($0),\($0)\n", to: "\($0).csv") }
    let batch = try await queue.submitBatch(
      try files.map { try JobSubmission("import", store: "main", entity: "Person", source: $0, lane: "import") },
      named: "files", callback: try JobSubmission("greet", store: "main", options: ["name": "both"]))
    #expect(batch.total == 2 && batch.jobs.count == 2)
    #expect(try await queue.end(of: try #require(batch.callback)).state == .completed)
    #expect(try await queue.batch(batch.id).progress.inserted == 2)
    #expect(try house.names() == ["Hello both", "a", "b"])
    #expect(try house.inputs.isEmpty)
    #expect(try await queue.stop().isEmpty)
  }

  @Test("keeps the file of a job that waits over a restart, and removes those that no job needs")
  func restarted() async throws {
    let house = try House()
    let first = try house.queue()
    let source = try house.write("code,name\na,Ada\n", to: "people.csv")
    let job = try await first.submit("import", store: "main", entity: "Person", source: source, uniqueKey: "people")
    let same = try await first.submit("import", store: "main", entity: "Person", source: source, uniqueKey: "people")
    #expect(same.id == job.id)
    #expect(try house.inputs.count == 1)
    #expect(try await first.stop().isEmpty)
    _ = try house.write("left by a kill", to: "active/stray")
    let second = try house.queue()
    try await second.start()
    #expect(try await second.end(of: job.id).progress.inserted == 1)
    #expect(try house.inputs.isEmpty)
    #expect(try await second.stop().isEmpty)
  }

  @Test("keeps the file of a job that is being submitted while the queue starts")
  func submittedWhileStarting() async throws {
    let (reached, goesOn) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
    let house = try House()
    let queue = try house.queue { catalogue in
      catalogue.add("held", options: [String: String].self) { _, _ in
        reached.continuation.yield()
        goesOn.wait()
      } perform: { _, _ in
        .completed(JobProgress())
      }
    }
    let source = try house.write("code,name\na,Ada\n", to: "people.csv")
    let jobs = [
      try JobSubmission("import", store: "main", entity: "Person", source: source, lane: "import"),
      try JobSubmission("held"),
    ]
    // The first job's file is copied, and the second is checked before both are in the store.
    let submission = Task(executorPreference: QueueExecutor()) { try await queue.submitBatch(jobs) }
    var checks = reached.stream.makeAsyncIterator()
    await checks.next()
    #expect(try house.inputs.count == 1)
    try await queue.start()
    #expect(try house.inputs.count == 1)
    goesOn.signal()
    for id in try await submission.value.jobs {
      let job = try await queue.end(of: id)
      #expect(job.state == .completed, "\(job.reason ?? "")")
    }
    #expect(try house.names() == ["Ada"])
    #expect(try await queue.stop().isEmpty)
  }
}
