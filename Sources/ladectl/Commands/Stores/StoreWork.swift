import ArgumentParser
import ControlAPI

/// What every kind of work on a store takes.
struct StoreWorkOptions: ParsableArguments {
  @Argument(help: "The store; the only one there is, where none is named.", completion: .stores)
  var store: String?

  @OptionGroup var other: OtherOptions
  @OptionGroup(title: "The job") var submission: SubmissionOptions
}

/// Options of a kind of work by their names in its description.
struct OtherOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "An option of this kind of work that has none of its own here. Given again, the values are a list.",
      valueName: "name=value"),
    transform: { try NamedOption(parsing: $0) })
  var option: [NamedOption] = []

  /// These, and those that have names of their own; of those nil for what wasn't given.
  /// - Throws: `ValidationError` for one that is given both ways.
  func merged(with own: [String: OptionValue?]) throws -> [String: OptionValue] {
    try NamedOption.values(option).merging(own.compactMapValues(\.self)) { _, _ in
      throw ValidationError("An option is given twice: by --option, and by an option of its own.")
    }
  }
}

/// A verb that makes a job on a store. `ladectl submit --kind` could do it as well.
protocol StoreWork: ControlCommand {
  /// The kind of job.
  static var kind: String { get }
  var work: StoreWorkOptions { get }
  /// The options that have names of their own; nil for those that weren't given.
  var options: [String: OptionValue?] { get }
}

extension StoreWork {
  var options: [String: OptionValue?] { [:] }

  func validate() throws {
    _ = try work.other.merged(with: options)
  }

  func run(_ session: Session) async throws {
    let store = try await session.client.storeName(work.store, having: nil)
    let submission = JobSubmission(kind: Self.kind, store: store, options: try work.other.merged(with: options))
    try await Submitter(session: session).run(
      [work.submission.applied(to: submission)], wait: work.submission.wait)
  }
}

extension ControlClient {
  /// The store that is meant where none is named: the only one there is, or the only one that has the entity.
  /// - Throws: ``LocalFailure/severalStores(_:)``.
  func storeName(_ name: String?, having entity: String?) async throws -> String? {
    if let name { return name }
    let stores = try await status().stores.filter { store in entity.map(store.entities.contains) ?? true }
    // Where none has the entity, the daemon says which entities there are.
    guard stores.count < 2 else { throw LocalFailure.severalStores(stores.map(\.name)) }
    return stores.first?.name
  }
}
