import ControlAPI
import ControlTestSupport
import Foundation
import Testing

@testable import ladectl

@Suite("Completions")
struct CompletionTests {
  /// What `ladectl` answers a shell that asks for an argument's completions.
  private func words(
    _ verb: [String], _ argument: String, typed: [String] = [], shell: String? = nil, patience: String = "60",
    socket: String
  )
    async throws -> [String]
  {
    let line = ["ladectl"] + verb + typed + [""]
    var environment = ["LADE_COMPLETION_PATIENCE": patience]
    environment["SAP_SHELL"] = shell
    let run = try await LadectlProcess.run(
      ["---completion"] + verb + ["--", argument, "\(line.count - 1)", "0"] + line, socket: socket,
      environment: environment)
    #expect(run.status == 0)
    #expect(run.error == "")
    return run.output.split(separator: "\n").map(String.init)
  }

  @Test("jobs' numbers, lanes, stores and entities are those of the daemon that runs")
  func live() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend(jobs: [.example(7, .completed), .example(12, .running)])
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      #expect(try await words(["show"], "positional@0", socket: server.path) == ["12", "7"])
      #expect(try await words(["wait"], "positional@0", socket: server.path) == ["12"])
      #expect(try await words(["pause"], "positional@0", socket: server.path) == ["import"])
      #expect(try await words(["fetch"], "positional@0", socket: server.path) == ["Stop"])
      #expect(try await words(["count"], "--store", socket: server.path) == ["main"])
      #expect(
        try await words(["store", "restore"], "positional@0", socket: server.path)
          == ["latest", "main-2026-02-25T061320Z-job7.sqlite.zst"])
      #expect(try await words(["schedule", "run"], "positional@0", socket: server.path) == ["nightly", "off"])
      #expect(try await words(["fetch"], "--columns", typed: ["Stop"], socket: server.path) == ["name", "height"])
      let zsh = try await words(["show"], "positional@0", shell: "zsh", socket: server.path)
      #expect(zsh.first == "12:stops.csv, running")
      let fish = try await words(["show"], "positional@0", shell: "fish", socket: server.path)
      #expect(fish.first == "12\tstops.csv, running")
    }
  }

  @Test("without a daemon there are none, and nothing is said")
  func away() async throws {
    let directory = try TemporaryDirectory()
    #expect(try await words(["show"], "positional@0", socket: directory.file("s")) == [])
  }

  @Test("a daemon that doesn't answer costs half a second at most, and nothing is said")
  func silent() async throws {
    let directory = try TemporaryDirectory()
    let socket = try PlainSocket(boundTo: directory.file("s"), listening: true)
    #expect(try await words(["show"], "positional@0", patience: "nonsense", socket: directory.file("s")) == [])
    withExtendedLifetime(socket) {}
  }

  @Test("each shell's script knows every verb", arguments: ["bash", "zsh", "fish"])
  func scripts(_ shell: String) async throws {
    let script = try await LadectlProcess.run(["completions", shell])
    #expect(script.status == 0)
    for verb in try VerbDescription.all().verbs {
      #expect(script.output.contains(verb.commandName), "\(verb.commandName)")
    }
  }

  @Test("bash takes the script, and completes verbs and jobs with it")
  func bash() async throws {
    let directory = try TemporaryDirectory()
    let script = try await LadectlProcess.run(["completions", "bash"])
    try Data(script.output.utf8).write(to: URL(fileURLWithPath: directory.file("completion")))
    let backend = MemoryBackend(jobs: [.example(7, .completed), .example(12, .running)])
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let program = """
        source \(directory.file("completion"))
        PATH=\(LadectlProcess.folder):$PATH
        complete_line() {
          COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
          _ladectl "$1" "${@: -1}" "${@: -2:1}"; echo "${COMPREPLY[*]}"
        }
        complete_line ladectl sh
        complete_line ladectl show 1
        complete_line ladectl lane concurrency ''
        complete_line ladectl help rej
        complete_line ladectl help store check
        complete_line ladectl help store check ''
        """
      let run = try await LadectlProcess.run(
        program: "/bin/bash", ["--norc", "-c", program], socket: server.path,
        environment: ["LADE_COMPLETION_PATIENCE": "60"])
      #expect(run.output == "show\n12\nimport\nrejects\ncheck checkpoint\n\n", "\(run.error)")
    }
  }

  @Test("zsh and fish complete the verbs after help, too", arguments: ["zsh", "fish"])
  func help(_ shell: String) async throws {
    let script = try await LadectlProcess.run(["completions", shell]).output
    let store = try #require(try VerbDescription.all().verbs.first { $0.commandName == "store" })
    for verb in store.verbs {
      let line =
        shell == "zsh" ? " '\(verb.commandName):" : " -n '__ladectl_helps_with help store' -fa '\(verb.commandName)' "
      #expect(script.contains(line), "\(line)")
    }
    // A function that stands behind the call at the end would be too late.
    if shell == "zsh" {
      let last = try #require(script.range(of: "_ladectl_help() {", options: .backwards))
      let call = try #require(script.range(of: "if [[ \"${funcstack[1]}\""))
      #expect(last.lowerBound < call.lowerBound)
    }
    let program = "/usr/bin/" + shell
    guard FileManager.default.isExecutableFile(atPath: program) else { return }
    let directory = try TemporaryDirectory()
    let file = directory.file("completion")
    try Data(script.utf8).write(to: URL(fileURLWithPath: file))
    let check =
      shell == "zsh"
      ? ["-f", "-n", file] : ["--no-config", "-c", "source \(file); complete -C 'ladectl help store checkp'"]
    let run = try await LadectlProcess.run(program: program, check)
    #expect(run.status == 0 && run.error == "", "\(run.error)")
    if shell == "fish" { #expect(run.output.hasPrefix("checkpoint"), "\(run.output)") }
  }
}
