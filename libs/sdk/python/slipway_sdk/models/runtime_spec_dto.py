from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.runtime_spec_dto_args import RuntimeSpecDtoArgs
    from ..models.runtime_spec_dto_env import RuntimeSpecDtoEnv


T = TypeVar("T", bound="RuntimeSpecDto")


@_attrs_define
class RuntimeSpecDto:
    """
    Attributes:
        target (str): An execution target of the operator's configuration (GET /targets) Example: local.
        args (RuntimeSpecDtoArgs | Unset): Arguments the engine declares; text, number or true/false Example:
            {'ttft_ms': 20}.
        engine (str | Unset): One of the target's engines Example: sim.
        env (RuntimeSpecDtoEnv | Unset): Environment the engine allows; a text or {"secret_ref": "name"}
    """

    target: str
    args: RuntimeSpecDtoArgs | Unset = UNSET
    engine: str | Unset = UNSET
    env: RuntimeSpecDtoEnv | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        target = self.target

        args: dict[str, Any] | Unset = UNSET
        if not isinstance(self.args, Unset):
            args = self.args.to_dict()

        engine = self.engine

        env: dict[str, Any] | Unset = UNSET
        if not isinstance(self.env, Unset):
            env = self.env.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "target": target,
            }
        )
        if args is not UNSET:
            field_dict["args"] = args
        if engine is not UNSET:
            field_dict["engine"] = engine
        if env is not UNSET:
            field_dict["env"] = env

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.runtime_spec_dto_args import RuntimeSpecDtoArgs
        from ..models.runtime_spec_dto_env import RuntimeSpecDtoEnv

        d = dict(src_dict)
        target = d.pop("target")

        _args = d.pop("args", UNSET)
        args: RuntimeSpecDtoArgs | Unset
        if isinstance(_args, Unset):
            args = UNSET
        else:
            args = RuntimeSpecDtoArgs.from_dict(_args)

        engine = d.pop("engine", UNSET)

        _env = d.pop("env", UNSET)
        env: RuntimeSpecDtoEnv | Unset
        if isinstance(_env, Unset):
            env = UNSET
        else:
            env = RuntimeSpecDtoEnv.from_dict(_env)

        runtime_spec_dto = cls(
            target=target,
            args=args,
            engine=engine,
            env=env,
        )

        runtime_spec_dto.additional_properties = d
        return runtime_spec_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
