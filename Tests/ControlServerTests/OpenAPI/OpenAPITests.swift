import ControlAPI
import ControlTestSupport
import Foundation
import TestSupport
import Testing

@testable import ControlServer
@testable import ladectl

/// `openapi.yaml` says what the server does: nothing else, and nothing less.
@Suite("The OpenAPI document")
struct OpenAPITests {
  private static let methods = ["get", "put", "post", "delete", "patch", "head", "options"]

  private func document() throws -> DocumentValue {
    try DocumentValue(yaml: String(decoding: PackageResources.openapi_yaml, as: UTF8.self))
  }

  private var routes: [ControlRoute] { ControlRoutes(backend: MemoryBackend(), meter: RequestMeter()).all }

  /// Operations as `GET /v1/jobs`.
  private func operations(_ document: DocumentValue) -> [String: DocumentValue] {
    var found: [String: DocumentValue] = [:]
    for (path, item) in document["paths"].members {
      for method in Self.methods where item[method] != .null { found["\(method.uppercased()) \(path)"] = item[method] }
    }
    return found
  }

  @Test("every route has its operation, and every operation its route")
  func routesAndOperations() throws {
    let document = try document()
    let operations = operations(document)
    #expect(Set(operations.keys) == Set(routes.map { "\($0.method.rawValue) \($0.path)" }))
    let ids = operations.values.compactMap { $0["operationId"].text }
    #expect(ids.count == operations.count && Set(ids).count == ids.count, "each has an id of its own")
    #expect(document["info"]["version"].text == LadeVersion.current)
    for (name, operation) in operations {
      #expect(operation["responses"]["default"]["$ref"].text == "#/components/responses/Problem", "\(name)")
    }
  }

  @Test("knows the codes of ladectl's own problems")
  func localCodes() throws {
    let known = Set(
      try document()["components"]["schemas"]["Problem"]["properties"]["code"]["enum"].elements.compactMap(\.text))
    let local: [Problem] =
      [
        LocalFailure.cantReadModel(path: "", reason: ""), .cantReadTemplate(path: "", reason: ""),
        .wrongModel(mistakes: ""), .cantInferModel(reason: ""),
        .noSuchProgram(name: ""),
        .severalStores([]), .cantReadDescription(path: "", reason: ""), .noSuchPage(verb: ""),
        .cantWrite(path: "", reason: ""), .cantWriteOutput(reason: ""), .noTerminal(question: ""),
        .noSuchFile(path: ""), .noSuchRecipe("", known: []),
      ].map(\.problem)
      + [
        ControlClientError.noSocket(path: ""), .hungUp(path: ""), .noPermission(path: "", group: nil),
        .versionMismatch(server: nil, detail: ""), .timedOut(seconds: 0, waitingFor: "", hint: ""),
      ].map(\.problem)
    for problem in local { #expect(known.contains(problem.code), "\(problem.code)") }
    #expect(known.isSuperset(of: ["usage", "failed"]))
  }

  @Test("every reference leads somewhere, and every schema is referred to")
  func references() throws {
    let document = try document()
    let schemas = OpenAPISchemas(document)
    var used: Set<String> = []
    func walk(_ value: DocumentValue) {
      if let reference = value["$ref"].text {
        used.insert(reference)
        #expect(schemas.resolved(value) != .null, "\(reference)")
      }
      for member in value.members.values { walk(member) }
      for element in value.elements { walk(element) }
    }
    walk(document)
    let named = document["components"]["schemas"].members.keys.map { "#/components/schemas/\($0)" }
    // What streams say is in no answer that has a schema.
    let told = ["LogLine", "WatchResult", "WatchChanges"].map { "#/components/schemas/\($0)" }
    #expect(Set(named).subtracting(used).subtracting(told).isEmpty)
  }

  @Test("every parameter in a path is described")
  func pathParameters() throws {
    let document = try document()
    let schemas = OpenAPISchemas(document)
    for (path, item) in document["paths"].members {
      let named = item["parameters"].elements.map(schemas.resolved).filter { $0["in"].text == "path" }
      let inPath = path.split(separator: "/").filter { $0.first == "{" }.map { String($0.dropFirst().dropLast()) }
      #expect(named.compactMap { $0["name"].text } == inPath, "\(path)")
      #expect(named.allSatisfy { $0["required"] == .bool(true) }, "\(path)")
    }
  }

  @Test("the parameters of a query are those that the server takes")
  func queryParameters() async throws {
    let document = try document()
    let schemas = OpenAPISchemas(document)
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(jobs: [.example(1, .completed)]), at: directory.file("s")) {
      server async throws in
      for (path, item) in document["paths"].members where item["get"] != .null {
        let named = item["get"]["parameters"].elements.map(schemas.resolved).filter { $0["in"].text == "query" }
        let uri = path.replacing("{id}", with: "1").replacing("{entity}", with: "Stop").replacing(
          "{store}", with: "main"
        ).replacing("{number}", with: "1").replacing("{recipe}", with: "people")
        if uri.hasPrefix("/v1/batches/") { continue }
        let answer = try await ask(server.path, .GET, uri + "?nobody_knows=1")
        #expect(answer.status == 400, "\(path)")
        let known = try answer.problem().detail.split(separator: "there are ", omittingEmptySubsequences: false)
        let names = known.count > 1 ? known[1].split(separator: ", ").map(String.init) : []
        #expect(Set(names) == Set(named.compactMap { $0["name"].text }), "\(path)")
      }
    }
  }

  @Test("a schema's keys are those that its type is written with")
  func keys() throws {
    let document = try document()
    let schemas = document["components"]["schemas"].members
    func names<Keys: CodingKey & CaseIterable>(_ keys: Keys.Type) -> Set<String> {
      Set(keys.allCases.map(\.stringValue))
    }
    let types: [String: Set<String>] = [
      "Problem": names(Problem.CodingKeys.self), "Status": names(Status.CodingKeys.self),
      "LaneStatus": names(LaneStatus.CodingKeys.self), "StoreStatus": names(StoreStatus.CodingKeys.self),
      "MainContextStatus": names(MainContextStatus.CodingKeys.self), "Stats": names(Stats.CodingKeys.self),
      "Rate": names(Stats.Rate.CodingKeys.self),
      "Spread": names(Stats.Spread.CodingKeys.self), "LogPage": names(LogPage.CodingKeys.self),
      "LogLine": names(LogLine.CodingKeys.self), "ConfigurationCheck": names(ConfigurationCheck.CodingKeys.self),
      "ConfigurationSettings": names(ConfigurationSettings.CodingKeys.self),
      "ConfigurationSetting": names(ConfigurationSettings.Setting.CodingKeys.self),
      "BatchList": names(BatchList.CodingKeys.self), "BackupList": names(BackupList.CodingKeys.self),
      "Backup": names(Backup.CodingKeys.self),
      "Reload": names(Reload.CodingKeys.self), "Health": names(Health.CodingKeys.self),
      "WebLink": names(WebLink.CodingKeys.self),
      "HealthCheck": names(Health.Check.CodingKeys.self),
      "ConfigurationMistake": names(ConfigurationCheck.Mistake.CodingKeys.self),
      "JobList": names(JobList.CodingKeys.self), "Job": names(Job.CodingKeys.self),
      "JobProgress": names(JobProgress.CodingKeys.self), "JobTransition": names(JobTransition.CodingKeys.self),
      "JobDependency": names(JobDependency.CodingKeys.self), "JobSubmission": names(JobSubmission.CodingKeys.self),
      "JobsSubmission": names(JobsSubmission.CodingKeys.self), "JobReceipt": names(JobReceipt.CodingKeys.self),
      "JobReceiptList": names(JobReceiptList.CodingKeys.self),
      "JobSelection": names(JobSelection.CodingKeys.self), "JobChange": names(JobChange.CodingKeys.self),
      "JobChangeResult": names(JobChangeResult.CodingKeys.self),
      "History": names(History.CodingKeys.self), "HistorySpan": names(History.Span.CodingKeys.self),
      "DiskUse": names(DiskUse.CodingKeys.self), "DiskList": names(DiskList.CodingKeys.self),
      "DaemonStatus": names(DaemonStatus.CodingKeys.self), "DaemonList": names(DaemonList.CodingKeys.self),
      "CurrentRate": names(CurrentRate.CodingKeys.self), "JobOrigin": names(JobOrigin.Summary.CodingKeys.self),
      "JobSetting": names(JobSetting.CodingKeys.self),
      "JobRefusal": names(JobChangeResult.Refusal.CodingKeys.self),
      "PriorityChange": names(PriorityChange.CodingKeys.self), "RejectReport": names(RejectReport.CodingKeys.self),
      "RejectGroup": names(RejectReport.Group.CodingKeys.self),
      "RejectExample": names(RejectReport.Example.CodingKeys.self),
      "RejectResolver": names(RejectReport.Resolver.CodingKeys.self), "Reject": names(Reject.CodingKeys.self),
      "ByteRange": names(Reject.ByteRange.CodingKeys.self), "RejectPage": names(RejectPage.CodingKeys.self),
      "RejectRetryRequest": names(RejectRetryRequest.CodingKeys.self),
      "RejectCorrection": names(RejectCorrection.CodingKeys.self), "RejectCheck": names(RejectCheck.CodingKeys.self),
      "BatchSubmission": names(BatchSubmission.CodingKeys.self),
      "BatchMember": names(BatchSubmission.Member.CodingKeys.self), "Batch": names(Batch.CodingKeys.self),
      "LaneList": names(LaneList.CodingKeys.self), "Lane": names(Lane.CodingKeys.self),
      "LaneRate": names(RateLimit.CodingKeys.self), "ConcurrencyChange": names(ConcurrencyChange.CodingKeys.self),
      "ScheduleList": names(ScheduleList.CodingKeys.self), "Schedule": names(Schedule.CodingKeys.self),
      "ScheduledJob": names(ScheduledJob.CodingKeys.self),
      "RecipeFreshness": names(RecipeFreshness.CodingKeys.self),
      "WaitingSet": names(WaitingSet.CodingKeys.self),
      "RecipeList": names(RecipeList.CodingKeys.self), "Recipe": names(Recipe.CodingKeys.self),
      "RecipeDraft": names(RecipeDraft.CodingKeys.self),
      "RecipeDefinition": names(RecipeDefinition.CodingKeys.self), "FileColumns": names(FileColumns.CodingKeys.self),
      "FileColumn": names(FileColumns.Column.CodingKeys.self),
      "FileProperty": names(FileColumns.Property.CodingKeys.self),
      "RecipeTest": names(RecipeTest.CodingKeys.self), "RecipeTestResult": names(RecipeTestResult.CodingKeys.self),
      "ModelDiffRequest": names(ModelDiffRequest.CodingKeys.self), "ModelDiff": names(ModelDiff.CodingKeys.self),
      "ModelChange": names(ModelDiff.Change.CodingKeys.self),
      "RecipeTestExample": names(RecipeTestExample.CodingKeys.self),
      "RecipeTestValue": names(RecipeTestExample.Value.CodingKeys.self),
      "ModelVersions": names(ModelVersions.CodingKeys.self),
      "ModelVersionDifference": names(ModelVersions.Difference.CodingKeys.self),
      "ModelVersionChange": names(ModelVersions.Change.CodingKeys.self),
      "CursorStatus": names(CursorStatus.CodingKeys.self), "CursorChange": names(CursorChange.CodingKeys.self),
      "ReplayRequest": names(ReplayRequest.CodingKeys.self), "ReplayFile": names(ReplayFile.CodingKeys.self),
      "ReplayResult": names(ReplayResult.CodingKeys.self),
      "StoreList": names(StoreList.CodingKeys.self), "Store": names(Store.CodingKeys.self),
      "StoreEntity": names(Store.Entity.CodingKeys.self), "StoreAttribute": names(Store.Attribute.CodingKeys.self),
      "StoreRelationship": names(Store.Relationship.CodingKeys.self), "ObjectPage": names(ObjectPage.CodingKeys.self),
      "ObjectGroups": names(ObjectGroups.CodingKeys.self), "ObjectGroup": names(ObjectGroups.Group.CodingKeys.self),
      "EditableObject": names(EditableObject.CodingKeys.self),
      "EditableProperty": names(EditableObject.Property.CodingKeys.self),
      "ObjectEdit": names(ObjectEdit.CodingKeys.self), "EditCheck": names(EditCheck.CodingKeys.self),
      "EditFault": names(EditCheck.Fault.CodingKeys.self), "EditExtent": names(EditCheck.Extent.CodingKeys.self),
      "ObjectCount": names(ObjectCount.CodingKeys.self), "RowOrigins": names(RowOrigins.CodingKeys.self),
      "RowOrigin": names(RowOrigin.CodingKeys.self), "OriginStep": names(OriginStep.CodingKeys.self),
      "WatchResult": names(WatchResult.CodingKeys.self),
      "WatchRow": names(WatchRow.CodingKeys.self), "WatchChanges": names(WatchChanges.CodingKeys.self),
      "WatchChange": names(WatchChanges.Change.CodingKeys.self),
    ]
    let described = schemas.filter { $0.value["properties"] != .null }
    #expect(Set(described.keys) == Set(types.keys))
    for (name, schema) in described {
      #expect(Set(schema["properties"].members.keys) == types[name], "\(name)")
      #expect(schema["additionalProperties"] == .bool(false), "\(name)")
      let required = Set(schema["required"].elements.compactMap(\.text))
      #expect(required.isSubset(of: types[name] ?? []), "\(name)")
    }
  }

  @Test("words that there are several of are those of the sources")
  func words() throws {
    let schemas = try document()["components"]["schemas"]
    func words(_ value: DocumentValue) -> [String] { value["enum"].elements.compactMap(\.text) }
    #expect(words(schemas["JobState"]) == JobState.allCases.map(\.rawValue))
    #expect(words(schemas["ImportMode"]) == ImportMode.allCases.map(\.rawValue))
    #expect(words(schemas["LogLevel"]) == LogLevel.allCases.map(\.rawValue))
    #expect(words(schemas["JobChange"]["properties"]["action"]) == JobChange.Action.allCases.map(\.rawValue))
    #expect(words(schemas["WatchChange"]["properties"]["kind"]) == WatchChanges.Kind.allCases.map(\.rawValue))
    #expect(words(schemas["Schedule"]["properties"]["catch_up"]) == Schedule.CatchUp.allCases.map(\.rawValue))
    #expect(words(schemas["HealthStatus"]) == Health.Status.allCases.map(\.rawValue))
    let conditions = JobDependency.Condition.allCases.map(\.rawValue)
    #expect(words(schemas["JobDependency"]["properties"]["condition"]) == conditions)
  }

  @Test("the codes of problems are those of the sources, the server's before those of ladectl")
  func codes() throws {
    let described = try document()["components"]["schemas"]["Problem"]["properties"]["code"]["enum"].elements
      .compactMap(\.text)
    let server = try Self.codes(in: ["ControlAPI", "ControlServer", "LadeDaemon/Control", "LadeDaemon/Stores"])
    let ladectl = try Self.codes(in: ["ladectl"]).subtracting(server)
    #expect(server.count > 25 && ladectl.count > 10)
    let first = try #require(described.firstIndex(of: "usage"))
    #expect(Set(described[..<first]) == server)
    #expect(Set(described[first...]) == ladectl)
    #expect(Set(described).count == described.count)
  }

  /// What sources call problems: in `Problem(status: …, code: "forbidden"`, and what they make such words of.
  private static func codes(in targets: [String]) throws -> Set<String> {
    var folder = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { folder.deleteLastPathComponent() }
    var codes: Set<String> = []
    for target in targets {
      let url = folder.appendingPathComponent("Sources/" + target)
      let files = try #require(FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil))
      for case let file as URL in files where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        for match in text.matches(of: /status: [^"]*?code: "([a-z_]+)"/) { codes.insert(String(match.1)) }
        for match in text.matches(of: /missing\("([a-z]+)", name/) { codes.insert("no_such_\(match.1)") }
        for match in text.matches(of: /local\(\s*"([a-z_]+)"/) { codes.insert(String(match.1)) }
        if text.contains("code: Problem.unreachableSource") { codes.insert(Problem.unreachableSource) }
      }
    }
    return codes
  }

  @Test("limits are those that the sources declare")
  func limits() throws {
    let schemas = try document()["components"]["schemas"]
    func range(_ schema: String, _ property: String) -> [DocumentValue] {
      let property = schemas[schema]["properties"][property]
      return [property["minimum"], property["maximum"]]
    }
    func bounds(_ range: ClosedRange<Int>) -> [DocumentValue] {
      [.int(Int64(range.lowerBound)), .int(Int64(range.upperBound))]
    }
    #expect(range("JobSubmission", "priority") == bounds(JobSubmission.priorityRange))
    #expect(range("ConcurrencyChange", "concurrency") == bounds(LaneConfiguration.concurrencyRange))
    let most = schemas["JobsSubmission"]["properties"]["jobs"]["maxItems"]
    #expect(most == .int(Int64(JobsSubmission.maximumJobs)))
  }

  @Test("answers are as their schemas have them, and so are problems")
  func answers() async throws {
    let schemas = OpenAPISchemas(try document())
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend(jobs: [.example(1, .running), .example(2, .discarded), .example(3, .completed)])
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let submission = Data(#"{"source": "/a.csv", "tags": ["x"], "options": {"a": [1, {"b": true}]}}"#.utf8)
      let requests: [(String, String, String, Data?)] = [
        ("get", "/v1/status", "/v1/status", nil), ("get", "/v1/stats", "/v1/stats", nil),
        ("get", "/v1/history", "/v1/history?grain=5", nil), ("get", "/v1/disks", "/v1/disks", nil),
        ("get", "/v1/daemons", "/v1/daemons", nil),
        ("get", "/v1/log", "/v1/log?limit=5", nil), ("get", "/v1/config/check", "/v1/config/check", nil),
        ("post", "/v1/reload", "/v1/reload", nil), ("post", "/v1/web/session", "/v1/web/session", nil),
        ("get", "/v1/jobs", "/v1/jobs?state=running&limit=1", nil), ("get", "/v1/jobs/{id}", "/v1/jobs/3", nil),
        ("post", "/v1/jobs", "/v1/jobs", submission),
        (
          "post", "/v1/jobs/many", "/v1/jobs/many",
          Data(#"{"jobs": [{"source": "/a"}, {"source": "/b", "entity": "Nothing"}]}"#.utf8)
        ), ("post", "/v1/jobs/{id}/cancel", "/v1/jobs/1/cancel", nil),
        ("post", "/v1/jobs/{id}/retry", "/v1/jobs/2/retry", nil),
        ("post", "/v1/jobs/{id}/hold", "/v1/jobs/2/hold", nil),
        ("post", "/v1/jobs/{id}/release", "/v1/jobs/2/release", nil),
        ("put", "/v1/jobs/{id}/priority", "/v1/jobs/2/priority", Data(#"{"priority": 3}"#.utf8)),
        ("get", "/v1/jobs/{id}/rejects", "/v1/jobs/3/rejects", nil),
        ("get", "/v1/jobs/{id}/rejects/{number}", "/v1/jobs/3/rejects/1", nil),
        ("get", "/v1/jobs/{id}/rejects/open", "/v1/jobs/3/rejects/open?limit=1", nil),
        (
          "post", "/v1/jobs/{id}/rejects/check", "/v1/jobs/3/rejects/check", Data(#"{"records": [{"number": 1}]}"#.utf8)
        ),
        ("post", "/v1/jobs/{id}/rejects/retry", "/v1/jobs/3/rejects/retry", Data(#"{"dry_run": true}"#.utf8)),
        ("post", "/v1/jobs/change", "/v1/jobs/change", Data(#"{"action": "retry", "filter": {"jobs": [3]}}"#.utf8)),
        ("delete", "/v1/jobs/{id}", "/v1/jobs/3", nil),
        (
          "post", "/v1/batches", "/v1/batches",
          Data(#"{"jobs": [{"name": "a", "job": {"source": "/a"}}], "callback": {"kind": "export"}}"#.utf8)
        ),
        ("get", "/v1/batches", "/v1/batches?limit=1", nil), ("get", "/v1/config", "/v1/config", nil),
        ("get", "/v1/stores/{store}/backups", "/v1/stores/main/backups", nil),
        ("get", "/v1/stores/{store}/versions", "/v1/stores/main/versions?from=Main", nil),
        ("post", "/v1/schedules/{schedule}/run", "/v1/schedules/nightly/run", nil),
        ("post", "/v1/schedules/{schedule}/pause", "/v1/schedules/nightly/pause", nil),
        ("post", "/v1/schedules/{schedule}/resume", "/v1/schedules/nightly/resume", nil),
        ("get", "/v1/batches/{id}", "/v1/batches/1", nil), ("get", "/v1/lanes", "/v1/lanes", nil),
        ("post", "/v1/lanes/pause", "/v1/lanes/pause", nil), ("get", "/v1/schedules", "/v1/schedules", nil),
        ("post", "/v1/lanes/{lane}/resume", "/v1/lanes/import/resume", nil),
        ("put", "/v1/lanes/{lane}/concurrency", "/v1/lanes/import/concurrency", Data(#"{"concurrency": 4}"#.utf8)),
        ("get", "/v1/recipes", "/v1/recipes", nil),
        (
          "post", "/v1/recipes/test", "/v1/recipes/test", Data(#"{"source": "/a", "recipe": "people", "rows": 1}"#.utf8)
        ),
        ("post", "/v1/recipes/columns", "/v1/recipes/columns", Data(#"{"source": "/a", "entity": "Stop"}"#.utf8)),
        ("get", "/v1/recipes/{recipe}", "/v1/recipes/people", nil),
        (
          "put", "/v1/recipes/{recipe}", "/v1/recipes/new",
          Data(#"{"store": "main", "entity": "Stop", "options": {"nulls": ["NA"]}}"#.utf8)
        ), ("delete", "/v1/recipes/{recipe}", "/v1/recipes/new", nil),
        (
          "post", "/v1/recipes/{recipe}/replay", "/v1/recipes/people/replay",
          Data(#"{"since": "2026-03-01T00:00:00Z"}"#.utf8)
        ),
        ("get", "/v1/stores", "/v1/stores", nil), ("get", "/v1/stores/{store}", "/v1/stores/main", nil),
        ("get", "/v1/objects/{entity}", "/v1/objects/Stop", nil), ("get", "/v1/count/{entity}", "/v1/count/Stop", nil),
        ("get", "/v1/groups/{entity}", "/v1/groups/Stop?by=home", nil),
        ("get", "/v1/objects/{entity}/{number}", "/v1/objects/Route/1", nil),
        (
          "post", "/v1/objects/{entity}/check", "/v1/objects/Route/check",
          Data(#"{"object": 1, "set": {"title": "refused"}, "clear": ["night"]}"#.utf8)
        ),
        ("get", "/v1/origin/{entity}", "/v1/origin/Stop?key=7", nil),
      ]
      for (method, path, uri, body) in requests {
        let answer = try await ask(server.path, .init(rawValue: method.uppercased()), uri, body: body)
        #expect(
          answer.status == 200 || answer.status == 201,
          "\(method) \(uri): \(String(decoding: answer.body, as: UTF8.self))")
        let schema = schemas.schema(method, path, status: "\(answer.status)")
        #expect(schemas.mistakes(of: try DocumentValue(json: answer.body), schema).isEmpty, "\(method) \(uri)")
        if let body {  // What was sent is described, too.
          let content = schemas.document["paths"][path][method]["requestBody"]["content"]["application/json"]
          #expect(schemas.mistakes(of: try DocumentValue(json: body), content["schema"]).isEmpty, "\(method) \(uri)")
        }
      }
      for (method, uri) in [("GET", "/v1/jobs/99"), ("GET", "/nothing"), ("PUT", "/v1/jobs"), ("GET", "/v1/log?x=1")] {
        let answer = try await ask(server.path, .init(rawValue: method), uri)
        let schema = schemas.document["components"]["schemas"]["Problem"]
        #expect(schemas.mistakes(of: try DocumentValue(json: answer.body), schema).isEmpty, "\(method) \(uri)")
      }
    }
  }

  @Test("what answers don't match is found, with its place")
  func checker() throws {
    let schemas = OpenAPISchemas(try document())
    let list = schemas.document["components"]["schemas"]["JobList"]
    func mistakes(_ json: String) throws -> [String] {
      schemas.mistakes(of: try DocumentValue(json: Data(json.utf8)), list)
    }
    #expect(try mistakes(#"{"jobs": []}"#).isEmpty)
    #expect(try mistakes("{}") == ["$: jobs is missing"])
    #expect(try mistakes(#"{"jobs": [], "more": 1}"#).count == 1)
    #expect(try mistakes(#"{"jobs": [], "next": "7"}"#).first?.hasPrefix("$.next") == true)
    #expect(try mistakes(#"{"jobs": [{"id": 1}]}"#).contains { $0.hasPrefix("$.jobs[0]") })
  }

  @Test("the document is served as it is in the sources")
  func served() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let answer = try await ask(server.path, .GET, Endpoint.description.path)
      #expect(answer.status == 200)
      #expect(answer.contentType == "application/yaml")
      #expect(Array(answer.body) == PackageResources.openapi_yaml)
    }
  }
}
