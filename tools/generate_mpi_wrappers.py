"""Writes the wrappers of the MPI operations that are recorded, from the table below.

Usage: generate_mpi_wrappers.py PREPROCESSED OUT

PREPROCESSED is what the compiler makes of a file that includes <mpi.h>: the signatures come from there, so
that the wrappers are those of that library, and an operation that it lacks is left out. Names of arguments
are those of the MPI standard. OUT is C, included by src/backends/pmpi/wrappers.c.
"""

import re
import sys

_SIZE = "sp_pmpi_bytes({}, {})"
_SEND = "sp_pmpi_note_send(note, sp_pmpi_bytes(count, datatype), dest, tag, comm);"
_RECEIVE = "sp_pmpi_note_receive(note, sp_pmpi_bytes(count, datatype), source, tag, comm);"
_SENDRECV = ("sp_pmpi_note_send(note, sp_pmpi_bytes({}, {}), dest, sendtag, comm);\n"
             '    sp_pmpi_note_integer(note, "source", sp_pmpi_rank(source));')
_PROBE = "sp_pmpi_note_receive(note, -1, source, tag, comm);"
_COLLECTIVE = "sp_pmpi_note_collective(note, {}, {}, comm);"
_ACCESS = "sp_pmpi_note_access(note, sp_pmpi_bytes({}count, {}datatype), target_rank, {}, win);"
_FILE = "sp_pmpi_note_bytes(note, sp_pmpi_bytes(count, datatype));"
_OWN = "sendbuf == MPI_IN_PLACE ? {} : {}"


def _collective(size, root="-1"):
    return _COLLECTIVE.format(size, root)


def _either(in_place, otherwise):
    return _OWN.format(in_place, otherwise)


_SENT = _SIZE.format("sendcount", "sendtype")
_RECEIVED = _SIZE.format("recvcount", "recvtype")
_SHARE = "sp_pmpi_own_count(recvcounts, comm)"
_REDUCED = _collective(_SIZE.format("count", "datatype"))

#: Collective operation -> what is noted. Each also has a non-blocking form, and from MPI 4 on a persistent
#: one, which sends when it is started.
_COLLECTIVES = {
    "Barrier": _collective("-1"),
    "Bcast": _collective(_SIZE.format("count", "datatype"), "root"),
    "Reduce": _collective(_SIZE.format("count", "datatype"), "root"),
    "Allreduce": _REDUCED,
    "Scan": _REDUCED,
    "Exscan": _REDUCED,
    "Reduce_scatter_block": _collective(_SIZE.format("recvcount", "datatype")),
    "Reduce_scatter": _collective(_SIZE.format(_SHARE, "datatype")),
    "Gather": _collective(_either(_RECEIVED, _SENT), "root"),
    "Gatherv": _collective(_either(_SIZE.format(_SHARE, "recvtype"), _SENT), "root"),
    "Scatter": _collective("recvbuf == MPI_IN_PLACE ? " + _SENT + " : " + _RECEIVED, "root"),
    "Scatterv": _collective(
        "recvbuf == MPI_IN_PLACE ? "
        + _SIZE.format("sp_pmpi_own_count(sendcounts, comm)", "sendtype") + " : " + _RECEIVED, "root"),
    "Allgather": _collective(_either(_RECEIVED, _SENT)),
    "Allgatherv": _collective(_either(_SIZE.format(_SHARE, "recvtype"), _SENT)),
    "Alltoall": _collective(
        "sp_pmpi_comm_size(comm) * (" + _either(_RECEIVED, _SENT) + ")"),
    "Alltoallv": _collective(
        _either(_SIZE.format("sp_pmpi_all_counts(recvcounts, comm)", "recvtype"),
                _SIZE.format("sp_pmpi_all_counts(sendcounts, comm)", "sendtype"))),
    "Alltoallw": _collective("-1"),
    "Neighbor_allgather": _collective(_SENT),
    "Neighbor_allgatherv": _collective(_SENT),
    "Neighbor_alltoall": _collective("-1"),
    "Neighbor_alltoallv": _collective("-1"),
    "Neighbor_alltoallw": _collective("-1"),
}  # fmt: skip

_SENDS = ("Send", "Bsend", "Ssend", "Rsend")
_FILES = [
    f"{action}{place}"
    for action in ("read", "write")
    for place in ("", "_at", "_all", "_at_all", "_shared", "_ordered")
] + [f"i{action}{place}" for action in ("read", "write") for place in ("", "_at", "_all", "_at_all", "_shared")]

_MADE = "sp_pmpi_comm_made({}[0]);"


def _operations():
    """Yields (name, kind, what is noted before, what is done after)."""
    for name in _SENDS:
        yield name, "point-to-point", _SEND, ""
        yield "I" + name.lower(), "point-to-point", _SEND, ""
        yield name + "_init", "point-to-point", "", \
            "sp_pmpi_request_made(request[0], sp_pmpi_bytes(count, datatype), dest, tag, comm);"  # fmt: skip
    for name in ("Recv", "Irecv"):
        yield name, "point-to-point", _RECEIVE, ""
    for name in ("Recv_init", "Mrecv", "Imrecv"):
        yield name, "point-to-point", "", ""
    for name in ("Sendrecv", "Isendrecv"):
        yield name, "point-to-point", _SENDRECV.format("sendcount", "sendtype"), ""
    for name in ("Sendrecv_replace", "Isendrecv_replace"):
        yield name, "point-to-point", _SENDRECV.format("count", "datatype"), ""
    for name in ("Probe", "Iprobe", "Mprobe", "Improbe"):
        yield name, "point-to-point", _PROBE, ""
    yield "Start", "point-to-point", "sp_pmpi_note_start(note, 1, request);", ""
    yield "Startall", "point-to-point", "sp_pmpi_note_start(note, count, array_of_requests);", ""
    yield "Request_free", "communicator", "sp_pmpi_request_freed(request[0]);", ""
    for name in ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"):
        yield name, "wait", "", ""
    for name, noted in _COLLECTIVES.items():
        yield name, "collective", noted, ""
        yield "I" + name[0].lower() + name[1:], "collective", noted, ""
        yield name + "_init", "collective", "", ""
    yield from _one_sided()
    yield from _communicators()
    for name in ("open", "close", "delete", "sync", "set_view", "set_size", "preallocate", "seek"):
        yield "File_" + name, "io", "", ""
    for name in _FILES:
        yield "File_" + name, "io", _FILE, ""


def _one_sided():
    for name in ("Put", "Accumulate", "Rput", "Raccumulate"):
        yield name, "one-sided", _ACCESS.format("origin_", "origin_", "true"), ""
    for name in ("Get", "Rget"):
        yield name, "one-sided", _ACCESS.format("target_", "target_", "false"), ""
    for name in ("Get_accumulate", "Rget_accumulate", "Fetch_and_op", "Compare_and_swap"):
        yield name, "one-sided", "", ""
    for name in ("create", "allocate", "allocate_shared", "create_dynamic", "free", "fence", "start", "complete",
                 "post", "wait", "test", "lock", "unlock", "lock_all", "unlock_all", "flush", "flush_all",
                 "flush_local", "flush_local_all", "sync"):  # fmt: skip
        yield "Win_" + name, "one-sided", "", ""


def _communicators():
    for name, new in (
        ("Comm_dup", "newcomm"), ("Comm_dup_with_info", "newcomm"), ("Comm_create", "newcomm"),
        ("Comm_create_group", "newcomm"), ("Comm_split", "newcomm"), ("Comm_split_type", "newcomm"),
        ("Intercomm_create", "newintercomm"), ("Intercomm_merge", None), ("Cart_create", None),
        ("Cart_sub", None), ("Graph_create", None), ("Dist_graph_create", None),
        ("Dist_graph_create_adjacent", None), ("Comm_spawn", None), ("Comm_spawn_multiple", None),
        ("Comm_accept", "newcomm"), ("Comm_connect", "newcomm"),
    ):  # fmt: skip
        yield name, "communicator", "", _MADE.format(new or "@last_comm")
    for name in ("Comm_idup", "Comm_idup_with_info", "Comm_free", "Comm_disconnect"):
        yield name, "communicator", "", ""


_PROTOTYPE = re.compile(r"\bint\s+MPI_(\w+)\s*\(([^;{}]*?)\)\s*(?:__attribute__\s*\(\(.*?\)\)\s*)*;", re.S)
#: How an argument of Fortran, a pointer, becomes one of C.
_FROM_FORTRAN = {"int": "*(const MPI_Fint *){}", "MPI_Count": "*(const MPI_Count *){}",
                 "MPI_Datatype": "SP_FROM_FORTRAN(Type, *(const MPI_Fint *){})",
                 "MPI_Comm": "SP_FROM_FORTRAN(Comm, *(const MPI_Fint *){})",
                 "MPI_Win": "SP_FROM_FORTRAN(Win, *(const MPI_Fint *){})"}  # fmt: skip


class Argument:
    """One of a prototype."""

    def __init__(self, text):
        self.text = " ".join(text.split())
        self.name = re.search(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", self.text)[1]
        self.type = re.sub(r"\bconst\b|\s", "", self.text[: self.text.rindex(self.name)])
        self.is_array = "[" in self.text
        self.is_text = self.type in ("char*", "char**")


def prototypes(text):
    """Name -> arguments of each function of MPI."""
    found = {}
    for name, arguments in _PROTOTYPE.findall(text):
        if "..." not in arguments and arguments.strip() not in ("void", ""):
            found[name] = [Argument(part) for part in arguments.split(",")]
    return found


def _used(code, arguments):
    return [a for a in arguments if re.search(rf"\b{a.name}\b", code)]


def _complete(code, arguments):
    last = [a.name for a in arguments if a.type == "MPI_Comm*"]
    return code.replace("@last_comm", last[-1] if last else "")


def _local(argument):
    """A line that declares the C form of a Fortran argument under a name of its own."""
    name, kind = argument.name, argument.type
    if kind == "void*":
        return f"const void *c_{name} = sp_pmpi_fortran_buffer({name});"
    if argument.is_array and kind == "MPI_Request" or kind == "MPI_Request*":
        length = "*(const MPI_Fint *)count" if argument.is_array else "1"
        return f"MPI_Request *c_{name} = sp_pmpi_fortran_requests({name}, {length});"
    if kind == "MPI_Comm*":
        return f"MPI_Comm c_{name}[1] = {{SP_FROM_FORTRAN(Comm, *(const MPI_Fint *){name})}};"
    if argument.is_array:
        return f"const {kind} *c_{name} = {name};"
    return f"{kind} c_{name} = {_FROM_FORTRAN[kind].format(name)};"


def _helper(prefix, symbol, code, arguments):
    """A function that holds the code, and a caller of it for C and one for Fortran."""
    if not code:
        return "", "", ""
    used = _used(code, arguments)
    parameters = ["sp_pmpi_note *note"] if "note" in code else []
    parameters += [a.text if a.type != "void*" else f"const void *{a.name}" for a in used]
    first = ["&note"] if "note" in code else []
    name = f"{prefix}_{symbol}"
    text = f"static void {name}({', '.join(parameters)})\n{{\n    {code}\n}}\n\n"
    plain = f"        {name}({', '.join(first + [a.name for a in used])});\n"
    requests = [a.name for a in used if a.type in ("MPI_Request", "MPI_Request*") and (a.is_array or "*" in a.type)]
    lines = [f"            {_local(a)}\n" for a in used]
    lines.append(f"            {name}({', '.join(first + ['c_' + a.name for a in used])});\n")
    lines += [f"            free(c_{r});\n" for r in requests]
    return text, plain, "        {\n" + "".join(lines) + "        }\n"


def _wrapper(symbol, slot, real, parameters, passed, before, after, is_function):
    """One wrapper. It does nothing but pass on when its thread is inside another one."""
    result = "int" if is_function else "void"
    types = ", ".join(parameters)
    call = f"(({result} (*)({types}))real)({', '.join(passed)})"
    leave = "return MPI_ERR_OTHER;" if is_function else "return;"
    keep, give = ("int result = ", "    return result;\n") if is_function else ("", "")
    begin = "    sp_pmpi_note note;\n    if (!sp_pmpi_enter(&note, OPERATION))\n"
    only = f"        return {call};\n" if is_function else f"    {{\n        {call};\n        return;\n    }}\n"
    return (
        f"SP_API {result} {symbol}({types});\n"
        f"{result} {symbol}({types})\n{{\n"
        f"    sp_os_function real = sp_pmpi_real(&{slot}, \"{real}\");\n"
        f"    if (real == NULL)\n        {leave}\n"
        + begin + only + (before and f"    {{\n{before}    }}\n")
        + f"    sp_pmpi_begin(&note);\n    {keep}{call};\n    sp_pmpi_end(&note);\n"
        + (after and f"    {{\n{after}    }}\n") + f"    sp_pmpi_leave();\n{give}}}\n\n"
    )  # fmt: skip


def _f08_suffix(before, arguments, is_openmpi):
    """End of the symbol in the module mpi_f08. Operations with buffers are told of them by descriptors in
    MPICH, and end in its C functions: those whose buffer must be looked at are left to these."""
    if is_openmpi or not any(a.type == "void*" for a in arguments):
        return "_f08_"
    return None if "MPI_IN_PLACE" in before else "_f08ts_"


def wrappers(name, kind, before, after, arguments, is_openmpi):
    """All wrappers of one operation, as text."""
    symbol = name
    before, after = _complete(before, arguments), _complete(after, arguments)
    if after.startswith("sp_pmpi_comm_made([0])"):
        after = ""
    text_before, c_before, f_before = _helper("describe", symbol, before, arguments)
    text_after, c_after, f_after = _helper("finish", symbol, after, arguments)
    base = name[:-2] if name.endswith("_c") else name
    out = (
        f"static sp_pmpi_operation operation_{symbol} = {{\n    .name = \"MPI_{base}\",\n"
        f"    .tags = \"mpi,mpi.kind:{kind},mpi.operation:{base.lower()}\"}};\n"
        f"static _Atomic(sp_os_function) real_{symbol}, real_f_{symbol};\n\n" + text_before + text_after
    )
    operation = f"&operation_{symbol}"
    made = _wrapper(f"MPI_{name}", f"real_{symbol}", f"PMPI_{name}", [a.text for a in arguments],
                    [a.name for a in arguments], c_before, c_after, True)  # fmt: skip
    out += made.replace("OPERATION", operation)
    if name.endswith("_c"):
        return out.replace(f", real_f_{symbol}", "")
    # The lengths of texts follow the other arguments, by value.
    texts = [a for a in arguments if a.is_text]
    names = [a.name for a in arguments] + ["ierror"]
    parameters = [f"void *{n}" for n in names]
    lengths = [f"size_t {a.name}_length" for a in texts]
    passed = names + [f"{a.name}_length" for a in texts]
    low = name.lower()
    made = _wrapper(f"mpi_{low}_", f"real_f_{symbol}", f"pmpi_{low}_", parameters + lengths, passed, f_before,
                    f_after, False)  # fmt: skip
    out += made.replace("OPERATION", operation)
    suffix = _f08_suffix(before, arguments, is_openmpi)
    if suffix is not None:
        # The profiling name differs from release to release of MPICH; the next one of the same name does.
        real = f"pmpi_{low}{suffix}" if is_openmpi else f"mpi_{low}{suffix}"
        made = _wrapper(f"mpi_{low}{suffix}", f"real_f08_{symbol}", real, parameters + lengths,
                        passed, f_before, f_after, False)  # fmt: skip
        out += f"static _Atomic(sp_os_function) real_f08_{symbol};\n" + made.replace("OPERATION", operation)
    return out


def generate(text):
    """The whole file."""
    is_openmpi = "ompi_communicator_t" in text
    known = prototypes(text)
    parts = ["/* Made by tools/generate_mpi_wrappers.py. */\n\n"]
    for name, kind, before, after in _operations():
        for form in (name, name + "_c"):
            if form in known:
                parts.append(wrappers(form, kind, before, after, known[form], is_openmpi))
    return "".join(parts)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = generate(file.read())
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
