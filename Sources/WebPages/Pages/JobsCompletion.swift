import ControlAPI
import ControlServer
import LadeTypes

extension PageRoutes {
  /// The words of a search for jobs.
  func jobsCompletion() async throws -> Completion {
    async let lanes = backend.lanes()
    async let status = backend.status()
    let recipes = backend.recipes().map(\.name)
    let stores = try await status.stores
    return Completion(
      jobsIn: try await lanes.map(\.name), recipes: recipes, stores: stores.map(\.name),
      entities: Set(stores.flatMap(\.entities)).sorted())
  }

  /// What the script of the search asks for.
  func completeJobs(_ visit: Visit) async throws -> PageAnswer {
    let query = try visit.query()
    try query.refuseNames(otherThan: ["q"])
    return .json(try await jobsCompletion().json(for: query["q"] ?? ""))
  }
}

extension Completion {
  /// The names of a search for jobs, with their values.
  init(jobsIn lanes: [String], recipes: [String], stores: [String], entities: [String]) {
    self.init(
      separator: ":",
      words: JobSearch.names.map { name in
        switch name {
        case "state":
          Word(name, "where a job stands", values: JobState.allCases.map(\.rawValue), isList: true)
        case "recipe": Word(name, "what it follows", values: recipes)
        case "lane": Word(name, "where it runs", values: lanes)
        case "store": Word(name, "what it works on", values: stores)
        case "kind": Word(name, "what it does", values: StandardKinds.all)
        case "entity": Word(name, "what it is about", values: entities)
        case "held": Word(name, "whether it waits for a release", values: ["true", "false"])
        case "since": Word(name, "submitted within", values: ["1h", "1d", "7d", "30d"])
        case "error": Word(name, "the code of its failure; * stands for anything", values: [])
        case "file": Word(name, "the name of its file; * stands for anything", values: [])
        case "submitted_by": Word(name, "who handed it in", values: [])
        default: Word(name, values: [])
        }
      })
  }
}
