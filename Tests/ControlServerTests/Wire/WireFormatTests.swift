import ControlAPI
import ControlTestSupport
import Foundation
import Testing

@Suite("The wire format")
struct WireFormatTests {
  @Test("a job is written with snake_case keys and ISO 8601 dates, and read back the same")
  func job() throws {
    var job = Job.example(12, .running, progress: JobProgress(bytesDone: 5, bytesTotal: 10, records: 3))
    job.transitions = [JobTransition(at: job.submittedAt, from: nil, to: .available, reason: "submitted", by: "anna")]
    let data = try WireFormat.encode(job, pretty: true)
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains("\"submitted_at\" : \"2026-02-25T06:13:20.000Z\""))
    #expect(text.contains("\"max_attempts\" : 5"))
    #expect(text.contains("\"bytes_done\" : 5"))
    #expect(!text.contains("ended_at"))
    #expect(try WireFormat.decode(Job.self, from: data) == job)
  }

  @Test("a job written out is the job that the encoder writes, whatever stands in it")
  func jobWrittenOut() throws {
    var jobs = [
      Job.example(1, .available), Job.example(2, .running, progress: JobProgress(bytesDone: .max, phase: "x")),
    ]
    var full = Job.example(3, .discarded, source: "a \"b\" \\c\u{1}\n\t/ä\u{1F600}")
    full.recipe = "r"
    full.mode = .upsert
    full.startedAt = Date(timeIntervalSince1970: 1_772_000_000.999)
    full.endedAt = Date(timeIntervalSince1970: 0)
    full.submittedBy = ""
    full.tags = ["a", "\"b"]
    full.isHeld = true
    full.isCancelRequested = true
    full.uniqueKey = "k"
    full.batch = .max
    full.deadline = Date(timeIntervalSince1970: 4_000_000_000)
    full.timeout = 1.25
    full.after = [JobDependency(job: 2, condition: .ended)]
    full.waitsFor = "store main"
    full.obstacle = .store
    full.failureCode = "bad"
    full.rescues = 2
    full.host = "one"
    full.isFileInDatabase = true
    full.reason = "line 1\r\nline 2"
    full.note = "\u{7F}\u{2028}"
    full.rejectsFile = "/r"
    full.openRejects = 2
    full.retryOf = 3
    full.rate = CurrentRate(seconds: 9.5, records: 1e6, bytes: 0.125, secondsLeft: 3)
    full.change = JobChangeResult(changed: 1, refused: 1, refusals: [.init(job: 7, reason: "it's \"held\"\n")])
    full.originSummary = JobOrigin.Summary(.replay, name: "a\u{2}.csv", job: 8)
    full.settings = [JobSetting("reader.delimiter", "\t")]
    full.transitions = [JobTransition(at: full.submittedAt, from: nil, to: .available, reason: "s", by: "anna")]
    jobs.append(full)
    for job in jobs {
      let written = Data(try WireFormat.bytes(of: job))
      let encoded = try WireFormat.encode(job)
      #expect(try WireFormat.decode(Job.self, from: written) == WireFormat.decode(Job.self, from: encoded))
      let members = try JSONSerialization.jsonObject(with: written) as? NSDictionary
      #expect(members == (try JSONSerialization.jsonObject(with: encoded) as? NSDictionary))
      #expect(members?.count == (job.id == 3 ? Job.CodingKeys.allCases.count : members?.count))
    }
  }

  @Test("a time is written as Foundation writes it")
  func timeText() {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    var random = SystemRandomNumberGenerator()
    var times: [Double] = [0, 0.001, 0.999, 86_399.999, 951_782_400, 951_868_800, 4_107_542_400, 253_402_300_799, -1]
    for _ in 0..<20_000 {
      times.append((Double.random(in: 0..<253_402_300_000, using: &random) * 1000).rounded() / 1000)
      times.append(Double.random(in: 1_700_000_000..<1_900_000_000, using: &random))
    }
    let wrong = times.map { Date(timeIntervalSince1970: $0) }.filter { WireFormat.text(of: $0) != $0.formatted(style) }
    #expect(
      wrong.isEmpty,
      "\(wrong.prefix(3).map { ($0.timeIntervalSince1970, WireFormat.text(of: $0), $0.formatted(style)) })")
  }

  @Test("progress from a daemon that doesn't count skipped records is read")
  func progressOfAnEarlierVersion() throws {
    let old = #"""
      {"bytes_done": 5, "bytes_total": 10, "records": 3, "inserted": 1, "updated": 0, "unchanged": 1, "deleted": 0,
        "rejected": 1}
      """#
    #expect(
      try WireFormat.decode(JobProgress.self, from: Data(old.utf8))
        == JobProgress(bytesDone: 5, bytesTotal: 10, records: 3, inserted: 1, unchanged: 1, rejected: 1))
  }

  @Test(
    "a date may have a fraction of a second and another zone",
    arguments: ["2026-02-25T06:13:20Z", "2026-02-25T06:13:20.000Z", "2026-02-25T07:13:20+01:00"])
  func dates(_ text: String) {
    #expect(WireFormat.date(of: text) == Date(timeIntervalSince1970: 1_772_000_000))
  }

  @Test("a submission needs its source only")
  func submission() throws {
    let short = try WireFormat.decode(JobSubmission.self, from: Data(#"{"source": "/a.csv"}"#.utf8))
    #expect(short == JobSubmission(source: "/a.csv"))
    let long = JobSubmission(
      source: "/a.csv", entity: "Stop", mode: .insert, priority: 3, notBefore: Date(timeIntervalSince1970: 0),
      uniqueKey: "k",
      options: [
        "a": .bool(true), "b": .int(1), "c": .string("1"), "d": .list([.string("x"), .map(["z": .int(2)])]),
        "e": .double(1.5),
      ])
    #expect(try WireFormat.decode(JobSubmission.self, from: WireFormat.encode(long)) == long)
  }

  @Test(
    "what can't be an option is reported with its place",
    arguments: [
      (#"{"nulls": ["a", null]}"#, ["options", "nulls", "Index 1"]),
      (#"{"fields": {"a": null}}"#, ["options", "fields", "a"]),
      (#"{"trim": null}"#, ["options", "trim"]),
    ])
  func badOption(_ options: String, _ path: [String]) throws {
    let body = Data(#"{"source": "/a.csv", "options": \#(options)}"#.utf8)
    let error = #expect(throws: DecodingError.self) { try WireFormat.decode(JobSubmission.self, from: body) }
    guard case .dataCorrupted(let context) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(context.codingPath.map(\.stringValue) == path)
    #expect(context.debugDescription.contains("an option is a string"))
  }

  @Test("a submission with a key that isn't known is refused by its name")
  func misspelt() throws {
    let error = #expect(throws: DecodingError.self) {
      try WireFormat.decode(JobSubmission.self, from: Data(#"{"source": "/a.csv", "priorty": 1}"#.utf8))
    }
    #expect(String(describing: error).contains("priorty"))
  }

  @Test("values keep their kind, also numbers that JSON has no form for")
  func values() throws {
    let value = JSONValue.array([
      .null, .bool(true), .int(.max), .double(0.5), .string("1"), .object(["a": .array([])]),
    ])
    #expect(try WireFormat.decode(JSONValue.self, from: WireFormat.encode(value)) == value)
    #expect(String(decoding: try WireFormat.encode(JSONValue.double(.nan)), as: UTF8.self) == "\"NaN\"")
  }
}

@Suite("Query strings")
struct QueryStringTests {
  @Test("what is written is read back, whatever its characters")
  func roundTrip() throws {
    var query = QueryString()
    query["where"] = "name == 'a&b=c+d %' AND größe > 1"
    query["sort"] = "-a,b"
    let read = try QueryString(parsing: query.text)
    #expect(read["where"] == "name == 'a&b=c+d %' AND größe > 1")
    #expect(read["sort"] == "-a,b")
    #expect(read.names == ["where", "sort"])
  }

  @Test("a plus sign is a space, and a name without a value is empty")
  func forms() throws {
    let query = try QueryString(parsing: "a=x+y&b&c=")
    #expect(query["a"] == "x y")
    #expect(query["b"] == "")
    #expect(query["c"] == "")
  }

  @Test("bad escapes and repeated names are refused", arguments: ["a=%", "a=%f", "a=%zz", "a=%+1", "a=%ff", "a=1&a=2"])
  func refused(_ text: String) {
    #expect(throws: QueryError.self) { try QueryString(parsing: text) }
  }

  @Test("queries of jobs and objects are read as they were written")
  func queries() throws {
    let jobs = JobQuery(states: [.running, .retryable], lane: "import", limit: 7, before: 99)
    #expect(try JobQuery(QueryString(parsing: jobs.queryString.text)) == jobs)
    let objects = ObjectQuery(
      entity: "Stop", store: "main", predicate: "a == 1", sort: [.init(keyPath: "b", ascending: false)], limit: 5,
      offset: 10, columns: ["a", "b.c"])
    #expect(try ObjectQuery(entity: "Stop", QueryString(parsing: objects.queryString.text)) == objects)
  }

  @Test(
    "a parameter that isn't known, or isn't what it should be, is refused",
    arguments: ["stat=running", "state=runing", "limit=0", "limit=1001", "limit=x", "before=-1"])
  func badJobQueries(_ text: String) throws {
    let query = try QueryString(parsing: text)
    #expect(throws: QueryError.self) { try JobQuery(query) }
  }
}

@Suite("Server-sent events")
struct ServerSentEventTests {
  @Test("events are found wherever the stream is cut", arguments: 1...9)
  func pieces(_ size: Int) {
    let stream =
      ": hello\n\nevent: job\ndata: {\"größe\":1}\n\ndata:a\r\ndata: b\r\n\r\nevent: empty\n\nid: 4\rdata: c\r\r"
    var parser = ServerSentEventParser()
    var events: [ServerSentEvent] = []
    let bytes = Array(stream.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      events += parser.feed(bytes[start..<min(start + size, bytes.count)])
    }
    #expect(
      events == [
        ServerSentEvent(name: "job", data: "{\"größe\":1}"), ServerSentEvent(name: "message", data: "a\nb"),
        ServerSentEvent(name: "message", data: "c"),
      ])
  }

  @Test("an event of several lines is read as it was written")
  func lines() {
    let event = ServerSentEvent(name: "x", data: "a\n\nb")
    var parser = ServerSentEventParser()
    #expect(parser.feed(event.encoded.utf8) == [event])
  }

  @Test("an event of a kind that isn't known is passed over")
  func unknown() throws {
    #expect(try ControlEvent(ServerSentEvent(name: "weather", data: "?")) == nil)
    let job = Job.example(1, .completed)
    #expect(try ControlEvent(ControlEvent.job(job).serverSentEvent()) == .job(job))
  }
}
