"""A process that starts bots and ends them, however its owner ends: ``python -m moonvale_arena.starter FD ORDER``.

It loads an entrant's code once and forks a child for each seat, which takes milliseconds and begins with the memory of
a bot that has seen no game; or it runs an entrant's command. Orders and reports are lines of JSON on the socket FD;
with an order to start comes what the child shall talk on. When the socket is closed, all children are killed.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from moonvale_agents import Agent
from moonvale_arena.agents import maker
from moonvale_engine import EngineError, legal_actions, parse_position

MOST_BYTES: Final = 65536
_MOST_TALKS: Final = 64
_LONGEST_WORDS: Final = 300

Run = Callable[[int, Mapping[str, str]], None]


def main(control: int, order: str) -> None:
    """Obey until the socket is closed."""
    orders = socket.socket(fileno=control)
    try:
        run = _prepare(json.loads(order))
    except BaseException as error:  # noqa: BLE001  # an entrant's code may raise anything, and its owner is told what
        _report(orders, failed=words_of(error))
        return
    gc.collect()
    gc.freeze()
    _report(orders, ready=True)
    Starter(orders, run).serve()


class Starter:
    """The children of this process, by the numbers that their owner has given them."""

    def __init__(self, orders: socket.socket, run: Run) -> None:
        self._orders = orders
        self._run = run
        self._processes: dict[int, int] = {}  # number -> process
        self._read = b""
        self._talks: list[int] = []  # descriptors that came, for the next orders to start
        self._woken, self._waker = socket.socketpair()

    def serve(self) -> None:
        """Start and end children as ordered, and report those that have ended."""
        self._waker.setblocking(False)
        self._woken.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the owner, who then ends this process
        waiting = select.poll()
        waiting.register(self._orders, select.POLLIN)
        waiting.register(self._woken, select.POLLIN)
        try:
            while True:
                for descriptor, _ in waiting.poll():
                    if descriptor == self._woken.fileno():
                        self._woken.recv(MOST_BYTES)
                        self._reap()
                    elif not self._obey():
                        return
        finally:
            for process in self._processes.values():
                _kill(process)

    def _obey(self) -> bool:
        """Carry out the orders that have come; return whether more may come."""
        try:
            part, descriptors, _, _ = socket.recv_fds(self._orders, MOST_BYTES, _MOST_TALKS)
        except ConnectionError:
            return False
        self._talks += descriptors
        *orders, self._read = (self._read + part).split(b"\n")
        for order in map(json.loads, orders):
            if "start" in order:
                talk = self._talks.pop(0)
                self._start(order["start"], talk, order["environment"])
                os.close(talk)
            elif order["end"] in self._processes:
                _kill(self._processes[order["end"]])
        return part != b""

    def _start(self, number: int, talk: int, environment: Mapping[str, str]) -> None:
        process = os.fork()
        if process:
            self._processes[number] = process
            return
        status = 1
        try:
            os.setsid()  # so that whatever it starts is killed with it
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            for mine in (self._orders, self._woken, self._waker):
                mine.close()
            for other in self._talks:
                os.close(other)
            self._run(talk, environment)
            status = 0
        finally:
            os._exit(status)

    def _reap(self) -> None:
        for number, process in list(self._processes.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                del self._processes[number]
                _kill_group(process)
                _report(self._orders, ended=number, status=os.waitstatus_to_exitcode(status))


def _prepare(order: Mapping[str, Any]) -> Run:
    """Return what a child does; for agents, after one has been made to see that it can be."""
    if order["kind"] == "cmd":
        return lambda talk, environment: _command(order["command"], talk, environment)
    make = maker(order["kind"], order["target"], order["settings"])
    if not callable(getattr(make(0), "choose", None)):
        raise TypeError(f"{order['target']} has no method choose")
    return lambda talk, _: _agent(make, talk)


def _command(command: list[str], talk: int, environment: Mapping[str, str]) -> None:
    """Become the command; what it prints goes to its owner."""
    os.dup2(talk, 1)
    os.dup2(talk, 2)
    try:
        os.execvpe(command[0], command, {**os.environ, **environment})  # noqa: S606  # what a command entrant is
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127)


def _agent(make: Callable[[int], Agent], talk: int) -> None:
    """Play seats one after the other: a line ``new SEED`` begins one, and each position is answered.

    Answers are the place of the action among the legal ones, or ``?`` and what the agent did instead, or ``!`` and
    which error it raised, or ``#`` and why the position can't be read, which is nobody's fault here.
    """
    agent: Agent | None = None
    with socket.socket(fileno=talk) as talking, talking.makefile("rw", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            try:
                if line.startswith("new "):
                    agent, answer = make(int(line[4:])), "ok"
                else:
                    assert agent is not None
                    answer = _choice(agent, line)
            except BaseException as error:  # noqa: BLE001  # the entrant's own, which is told
                answer = f"!{words_of(error)}"
            lines.write(f"{answer}\n")
            lines.flush()


def _choice(agent: Agent, text: str) -> str:
    try:
        position = parse_position(text)
    except EngineError as error:
        return f"#{words_of(error)}"
    legal = list(legal_actions(position.state))
    action = agent.choose(position)
    return str(legal.index(action)) if type(action) is int and action in legal else f"?{repr(action)[:_LONGEST_WORDS]}"


def words_of(error: BaseException) -> str:
    """Return an error of an entrant's in one line."""
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return "".join([letter if letter.isprintable() else "?" for letter in words])[:_LONGEST_WORDS]


def _report(orders: socket.socket, **report: object) -> None:
    try:
        orders.sendall(json.dumps(report).encode() + b"\n")
    except ConnectionError:
        return  # nobody wants to know any more; the next order finds that out, too


def _kill(process: int) -> None:
    """Kill a child that has not been reaped, with all that it has started."""
    _kill_group(process)
    os.kill(process, signal.SIGKILL)  # where it has not begun a group of its own yet


def _kill_group(process: int) -> None:
    try:
        os.killpg(process, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
