import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

/// What users other than the daemon's may do: as processes of another user, in the socket's group.
@Suite(
  "Permission: other users", .startsDaemons,
  .enabled("it takes root, setpriv and curl to be somebody else") {
    geteuid() == 0 && Products.system("setpriv") != nil && Products.system("curl") != nil
  })
struct PermissionProcessTests {
  private static let recipes = "  members: { store: main, entity: Member }\n"
  /// Nobody, and somebody whom the system needn't know.
  private static let (nobody, somebody): (UInt32, UInt32) = (65534, 54321)

  /// A request by another user in the socket's group.
  private func ask(
    _ folder: DaemonFolder, as user: UInt32, _ method: String, _ endpoint: Endpoint, _ body: (any Encodable)? = nil,
    query: QueryString? = nil
  ) async throws -> HTTPAnswer {
    guard let setpriv = Products.system("setpriv") else { throw POSIXError(.ENOENT) }
    var arguments = [
      "--reuid=\(user)", "--regid=\(getegid())", "--clear-groups", "curl", "--silent", "--unix-socket",
      folder.file("s"), "--request", method, "--write-out", "\n%{http_code}",
      "http://laded" + endpoint.path + (query.map { "?" + $0.text } ?? ""),
    ]
    if let body { arguments += ["--data", String(decoding: try WireFormat.encode(body), as: UTF8.self)] }
    let run = try await ProgramOutput.of(
      setpriv, arguments, environment: Products.environment([:]), files: folder.file("ask-\(UUID().uuidString)"))
    guard run.status == 0, let end = run.text.lastIndex(of: "\n"), let status = Int(run.text[end...].dropFirst()) else {
      throw ProgramFailure(program: "curl", arguments: arguments, what: "status \(run.status)", error: run.error)
    }
    return HTTPAnswer(status: status, body: Data(run.text[..<end].utf8))
  }

  @Test("who isn't an operator has a time limit of its own for queries")
  func queryTime() async throws {
    let (folder, daemon) = try await started(operators: "queries: { members: 200ms, operators: 24h }")
    let job = try await folder.imported(QueryLimitTests.csv, as: "members.csv", into: "members")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    let query = ObjectQuery(entity: "Member", predicate: QueryLimitTests.endless).queryString
    let answer = try await ask(folder, as: Self.somebody, "GET", .count(entity: "Member"), query: query)
    #expect(answer.status == 422, "\(answer.text)")
    let problem: Problem = try answer.decoded()
    #expect(problem.code == "time_limit" && problem.hint?.contains("queries.members") == true)
    try await daemon.stop()
  }

  private func started(operators: String = "") async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes, more: operators)
    // The folder is root's alone otherwise; the socket's own mode is what counts here.
    chmod(folder.path, 0o755)
    return (folder, try await folder.start())
  }

  @Test("who isn't an operator saves no recipe, and sees values of own files, but none of those of others")
  func recipesOfOthers() async throws {
    let (folder, daemon) = try await started(operators: "save_recipes: true\nallowed_folders: [shared]")
    let draft = RecipeDraft(store: "main", entity: "Member")
    let refused = try await ask(folder, as: Self.somebody, "PUT", .recipe("mine"), draft)
    #expect(refused.status == 403, "\(refused.text)")
    _ = try await folder.got(Reload.self, "PUT", .recipe("mine"), body: draft)
    #expect(try await ask(folder, as: Self.somebody, "DELETE", .recipe("mine")).status == 403)
    #expect(try await ask(folder, as: Self.somebody, "GET", .recipe("mine")).status == 200)
    let mine = try folder.write("number,name\n1,Ada\n", to: "mine.csv")
    #expect(chown(mine, Self.somebody, getegid()) == 0)
    let request = ModelDiffRequest(source: mine, entity: "Member")
    let columns: FileColumns = try await ask(folder, as: Self.somebody, "POST", .fileColumns, request).decoded()
    #expect(columns.columns.map(\.values) == [["1"], ["Ada"]], "it is the asker's own")
    let all: FileColumns = try await folder.got("POST", .fileColumns, body: request)
    #expect(all.columns.map(\.values) == [["1"], ["Ada"]])
    let roots = ModelDiffRequest(source: try folder.write("number,name\n1,Ada\n", to: "roots.csv"), entity: "Member")
    #expect(try await ask(folder, as: Self.somebody, "POST", .fileColumns, roots).status != 200)

    // Anybody may import what is in this folder.
    try FileManager.default.createDirectory(atPath: folder.file("shared"), withIntermediateDirectories: true)
    chmod(folder.file("shared"), 0o755)
    let text = "number,name,joined\n1,s3cret-name,2026-01-01\n2,Bob,s3cret-date\n"
    let shared = try folder.write(text, to: "shared/roots.csv")
    let own = try folder.write(text, to: "own.csv")
    #expect(chown(own, Self.somebody, getegid()) == 0)
    for (source, isShown) in [(shared, false), (own, true)] {
      func text(as user: UInt32, _ endpoint: Endpoint, _ body: any Encodable) async throws -> String {
        let answer = try await ask(folder, as: user, "POST", endpoint, body)
        #expect(answer.status == 200, "\(endpoint): \(answer.text)")
        return answer.text
      }
      let asked = ModelDiffRequest(source: source, entity: "Member")
      let test = RecipeTest(source: source, recipe: "members", rows: 5)
      let found = try await text(as: Self.somebody, .fileColumns, asked)
      #expect(found.contains("joined") && found.contains("s3cret") == isShown, "\(found)")
      let difference = try await text(as: Self.somebody, .diffModel, asked)
      #expect(difference.contains("s3cret") == isShown, "\(difference)")
      let tried = try await text(as: Self.somebody, .testRecipe, test)
      #expect(tried.contains("s3cret") == isShown, "\(tried)")
      let result = try WireFormat.decode(RecipeTestResult.self, from: Data(tried.utf8))
      #expect(result.progress.inserted == 1 && result.progress.rejected == 1, "the numbers are everybody's")
      #expect(result.examples.isEmpty != isShown && (result.rows == nil) != isShown)
      #expect(result.rejects.groups.map(\.code) == ["not_a_date"])
      #expect(result.rejects.groups.allSatisfy { $0.examples.isEmpty != isShown })
      #expect(try await text(as: geteuid(), .testRecipe, test).contains("s3cret"), "an operator sees all")
    }
    // Nor is the first of them named where nothing would be imported.
    let bad = try folder.write("number,name\ns3cret,Ada\n", to: "shared/bad.csv")
    let failed = try await ask(
      folder, as: Self.somebody, "POST", .testRecipe, RecipeTest(source: bad, recipe: "members"))
    #expect(failed.status == 200 && !failed.text.contains("s3cret"), "\(failed.text)")
    #expect(try failed.decoded(as: RecipeTestResult.self).failure != nil)
    try await daemon.stop()
  }

  @Test("a page does what the user who asked for its link may do, and nothing else")
  func pages() async throws {
    let (folder, daemon) = try await started(operators: "web: { address: \"127.0.0.1:0\" }")
    _ = try await folder.got(Lane.self, "POST", .pauseLane("import"))
    let roots = try folder.write("number,name\n1,Ada\n", to: "roots.csv")
    let mine = try folder.write("number,name\n2,Bob\n", to: "mine.csv")
    #expect(chown(mine, Self.somebody, getegid()) == 0)
    let job: Job = try await folder.got("POST", .jobs, body: JobSubmission(source: roots, recipe: "members"))
    let submitted = try await ask(
      folder, as: Self.somebody, "POST", .jobs, JobSubmission(source: mine, recipe: "members"))
    let own: Job = try submitted.decoded()

    let made = try await ask(folder, as: Self.somebody, "POST", .webSession)
    #expect(made.status == 201, "\(made.text)")
    let link: WebLink = try made.decoded()
    let parts = try #require(link.url.wholeMatch(of: /http:\/\/127\.0\.0\.1:(\d+)(\/sign-in\?token=[0-9a-f]+)/))
    let port = try #require(UInt16(parts.1))
    let signedIn = try await tcp(String(parts.2), port: port)
    #expect(signedIn.status == 303, "\(signedIn.text)")
    let cookie = String(try #require(signedIn.headers["set-cookie"]).prefix { $0 != ";" })
    let headers = ["Cookie": cookie, "Sec-Fetch-Site": "same-origin"]

    for uri in ["/", "/jobs", "/jobs/\(job.id)", "/jobs/\(job.id)/rejects"] {
      #expect(try await tcp(uri, port: port, headers: headers).status == 200, "\(uri)")
    }
    for uri in ["/jobs/\(job.id)/cancel", "/jobs/\(job.id)/hold", "/lanes/import/resume"] {
      let answer = try await tcp("POST", uri, port: port, headers: headers)
      #expect(answer.status == 403 && answer.text.contains("user \(Self.somebody)"), "\(uri): \(answer.text)")
    }
    #expect(try await tcp("POST", "/jobs/\(own.id)/cancel", port: port, headers: headers).status == 303)
    #expect(try await folder.job(own.id).state == .cancelled)
    #expect(try await folder.job(job.id).state == .available)
    try await daemon.stop()
  }

  @Test("who is in the group reads, submits its own files and changes its own jobs, and nothing else")
  func everyone() async throws {
    let (folder, daemon) = try await started()
    _ = try await folder.got(Lane.self, "POST", .pauseLane("import"))
    let roots = try folder.write("number,name\n1,Ada\n", to: "roots.csv")
    let mine = try folder.write("number,name\n2,Bob\n", to: "mine.csv")
    #expect(chown(mine, Self.somebody, getegid()) == 0)
    let job: Job = try await folder.got("POST", .jobs, body: JobSubmission(source: roots, recipe: "members"))

    let user = Self.somebody
    for endpoint in [
      Endpoint.status, .stats, .jobs, .job(job.id), .lanes, .stores, .recipes, .log, .checkConfiguration,
    ] {
      #expect(try await ask(folder, as: user, "GET", endpoint).status == 200, "\(endpoint)")
    }
    let other = try await ask(folder, as: user, "POST", .jobs, JobSubmission(source: roots, recipe: "members"))
    #expect(other.status == 403, "a file of somebody else's: \(other.text)")
    let submitted = try await ask(folder, as: user, "POST", .jobs, JobSubmission(source: mine, recipe: "members"))
    #expect(submitted.status == 201, "\(submitted.text)")
    let own: Job = try submitted.decoded()
    #expect(own.submittedBy == "user \(user)")

    for (method, endpoint) in [
      ("POST", Endpoint.cancelJob(job.id)), ("POST", .holdJob(job.id)), ("POST", .retryJob(job.id)),
      ("DELETE", .job(job.id)), ("POST", .pauseLane("import")), ("POST", .resumeLanes),
      ("POST", .reload),
    ] {
      let answer = try await ask(folder, as: user, method, endpoint)
      #expect(answer.status == 403, "\(method) \(endpoint): \(answer.text)")
      #expect(try answer.decoded(as: Problem.self).code == "forbidden")
    }
    let concurrency = ConcurrencyChange(concurrency: 4)
    #expect(try await ask(folder, as: user, "PUT", .laneConcurrency("import"), concurrency).status == 403)
    #expect(try await ask(folder, as: user, "PUT", .jobPriority(job.id), PriorityChange(priority: 1)).status == 403)
    #expect(try await ask(folder, as: user, "POST", .jobs, JobSubmission(kind: "vacuum")).status == 403)
    let batch = BatchSubmission(jobs: [.init(JobSubmission(kind: "vacuum"))])
    #expect(try await ask(folder, as: user, "POST", .batches, batch).status == 403)
    let many = JobsSubmission(jobs: [JobSubmission(kind: "vacuum"), JobSubmission(kind: "check")])
    let receipts: JobReceiptList = try await ask(folder, as: user, "POST", .manyJobs, many).decoded()
    #expect(receipts.jobs.map(\.problem?.code) == ["forbidden", "forbidden"])

    // Of many, only its own.
    let all = JobChange(.hold, JobSelection(), isForAll: true)
    let changing: Job = try await ask(folder, as: user, "POST", .changeJobs, all).decoded()
    let held = try await folder.ended(changing.id).change
    #expect((held?.changed, held?.refused) == (1, 0))
    #expect(try await folder.job(job.id).isHeld == false)
    let theirs = JobChange(.hold, JobSelection(submittedBy: "\(getuid())"))
    #expect(try await ask(folder, as: user, "POST", .changeJobs, theirs).status == 403)
    #expect(try await ask(folder, as: user, "POST", .releaseJob(own.id)).status == 200)
    #expect(try await ask(folder, as: user, "POST", .cancelJob(own.id)).status == 200)
    #expect(try await folder.job(own.id).state == .cancelled)
    try await daemon.stop()
  }

  @Test("regular expressions are for operators, who can hold a reader by one anyway")
  func expressions() async throws {
    let (folder, daemon) = try await started(operators: "operators: [nobody]")
    let (plain, regular) = ("name BEGINSWITH 'A'", "NOT (name MATCHES '(a+)+$')")
    func statuses(as user: UInt32, _ format: String) async throws -> [Int] {
      let query = ObjectQuery(entity: "Member", predicate: format).queryString
      let export = JobSubmission(kind: "export", entity: "Member", options: ["where": .string(format)])
      let batch = BatchSubmission(jobs: [.init(export)])
      return [
        try await ask(folder, as: user, "GET", .objects(entity: "Member"), query: query).status,
        try await ask(folder, as: user, "GET", .count(entity: "Member"), query: query).status,
        try await ask(folder, as: user, "POST", .jobs, export).status,
        try await ask(folder, as: user, "POST", .batches, batch).status,
      ]
    }
    #expect(try await statuses(as: Self.somebody, plain) == [200, 200, 201, 201])
    #expect(try await statuses(as: Self.somebody, regular) == [403, 403, 403, 403])
    #expect(try await statuses(as: Self.nobody, regular) == [200, 200, 201, 201])
    try await daemon.stop()
  }

  @Test("a user whom the configuration names as an operator may do what root may")
  func operators() async throws {
    let (folder, daemon) = try await started(operators: "operators: [nobody]")
    let file = try folder.write("number,name\n1,Ada\n", to: "roots.csv")
    let user = Self.nobody
    #expect(try await ask(folder, as: user, "POST", .pauseLane("import")).status == 200)
    let job: Job = try await folder.got("POST", .jobs, body: JobSubmission(source: file, recipe: "members"))
    #expect(try await ask(folder, as: user, "POST", .cancelJob(job.id)).status == 200)
    let transition = try #require(try await folder.job(job.id).transitions?.last)
    #expect((transition.to, transition.by) == (.cancelled, "user \(user)"))
    #expect(try await ask(folder, as: Self.somebody, "POST", .resumeLanes).status == 403)
    // Until the configuration names somebody else.
    let text = try folder.text("lade.yaml").replacing("operators: [nobody]", with: "operators: [daemon]")
    try folder.write(text, to: "lade.yaml")
    let reload = try await ask(folder, as: user, "POST", .reload)
    #expect(try reload.decoded(as: Reload.self).changed == ["operators"], "\(reload.text)")
    #expect(try await ask(folder, as: user, "POST", .pauseLane("import")).status == 403)
    #expect(try await ask(folder, as: user, "POST", .reload).status == 403)
    try await daemon.stop()
  }
}
